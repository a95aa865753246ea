class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.000377832
	std = 0.959667


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.441086
	std = 0.698815


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.168138
	std = 0.537435
