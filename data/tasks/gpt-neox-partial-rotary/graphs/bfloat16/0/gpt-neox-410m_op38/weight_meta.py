class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00113152
	std = 0.633394


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 16]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.447353
	std = 0.708973


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 16]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.16132
	std = 0.52097
