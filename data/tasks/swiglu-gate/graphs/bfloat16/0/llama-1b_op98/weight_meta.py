class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 5632]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00639392
	std = 0.906359


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [1, 128, 5632]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00759795
	std = 0.90386
