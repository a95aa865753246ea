class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00212003
	std = 0.902611


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.503779
	std = 0.680276


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.170018
	std = 0.504515
