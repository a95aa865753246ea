class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 3072]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 2.33159e-05
	std = 0.641028


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 3072]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00371355
	std = 0.639546
