class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.000997029
	std = 0.958707


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.517881
	std = 0.673053


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.168354
	std = 0.50047
