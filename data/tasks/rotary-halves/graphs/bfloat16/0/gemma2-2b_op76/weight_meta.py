class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000998832
	std = 0.958706


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.517956
	std = 0.673119


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.168194
	std = 0.500496
