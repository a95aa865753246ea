class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00037709
	std = 0.959667


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.441101
	std = 0.698801


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.168134
	std = 0.537437
