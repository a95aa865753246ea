class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00273617
	std = 0.894603


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.656195
	std = 0.609411


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.117461
	std = 0.429235
