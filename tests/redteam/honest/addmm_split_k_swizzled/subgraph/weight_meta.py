class Program_weight_tensor_meta_L_self_parameters_bias_:
	name = "in_0"
	original_name = "L_self_parameters_bias_"
	shape = [48]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.1


class Program_weight_tensor_meta_L_x_:
	name = "in_1"
	original_name = "L_x_"
	shape = [33, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_self_parameters_weight_:
	name = "in_2"
	original_name = "L_self_parameters_weight_"
	shape = [256, 48]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.1
