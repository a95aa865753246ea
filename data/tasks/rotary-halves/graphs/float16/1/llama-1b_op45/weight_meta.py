class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00025766
	std = 0.904554


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.431821
	std = 0.700476


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.167019
	std = 0.543113
