class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00273333
	std = 0.894614


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.656138
	std = 0.609479


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.117498
	std = 0.429335
