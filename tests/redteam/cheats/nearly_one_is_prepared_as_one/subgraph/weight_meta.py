class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [32, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_norm_parameters_weight_"
	shape = [64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
	name = "in_2"
	original_name = "L_self_modules_norm_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
