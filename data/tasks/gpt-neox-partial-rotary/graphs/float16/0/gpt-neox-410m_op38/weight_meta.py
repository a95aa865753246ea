class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 3072]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00113002
	std = 0.633391


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 16]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.447437
	std = 0.708825


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 16]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.161789
	std = 0.520756
