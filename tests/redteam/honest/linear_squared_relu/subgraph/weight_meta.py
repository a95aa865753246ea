class Program_weight_tensor_meta_L_x_:
	name = "in_0"
	original_name = "L_x_"
	shape = [37, 45]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_self_modules_up_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_up_parameters_weight_"
	shape = [51, 45]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.15


class Program_weight_tensor_meta_L_self_modules_up_parameters_bias_:
	name = "in_2"
	original_name = "L_self_modules_up_parameters_bias_"
	shape = [51]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.1
