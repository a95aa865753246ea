class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00037821
	std = 0.959665


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.441212
	std = 0.698829


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.168049
	std = 0.53748
