class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 3072]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 2.44007e-05
	std = 0.641028


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 3072]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00371363
	std = 0.63955
