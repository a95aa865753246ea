class Program_weight_tensor_meta_L_keys_:
	name = "in_0"
	original_name = "L_keys_"
	shape = [2, 3, 10, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_cos_:
	name = "in_1"
	original_name = "L_cos_"
	shape = [10, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_sin_:
	name = "in_2"
	original_name = "L_sin_"
	shape = [10, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
