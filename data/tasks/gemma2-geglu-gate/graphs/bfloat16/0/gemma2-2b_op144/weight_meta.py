class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 9216]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00129331
	std = 0.962483


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [1, 128, 9216]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.000587093
	std = 0.961811
