class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000340286
	std = 1.00136


class Program_weight_tensor_meta_hidden_linear:
	name = "in_1"
	original_name = "hidden_linear"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00168967
	std = 1.0017
