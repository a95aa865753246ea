class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0020506
	std = 0.894494


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.603059
	std = 0.640796


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.119427
	std = 0.45984
