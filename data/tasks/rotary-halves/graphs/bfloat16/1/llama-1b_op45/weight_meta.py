class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000257461
	std = 0.904545


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 64]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.43191
	std = 0.700537


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 64]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.166988
	std = 0.543114
