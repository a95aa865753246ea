class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00204828
	std = 0.894498


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.602961
	std = 0.640914


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.119429
	std = 0.459916
