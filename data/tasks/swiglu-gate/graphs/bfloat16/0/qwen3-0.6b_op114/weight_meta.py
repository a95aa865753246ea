class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0038375
	std = 0.642298


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [1, 128, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00209168
	std = 0.642526
