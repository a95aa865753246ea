class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000996533
	std = 0.958707


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.517874
	std = 0.673055


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.168353
	std = 0.50046
