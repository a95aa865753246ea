class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.000379906
	std = 0.632341


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 16]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.403977
	std = 0.697051


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 16]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.178968
	std = 0.56483
