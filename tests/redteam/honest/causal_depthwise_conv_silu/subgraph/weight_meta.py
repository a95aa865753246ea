class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [2, 20, 33]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_self_modules_conv1d_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_conv1d_parameters_weight_"
	shape = [20, 1, 4]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.3


class Program_weight_tensor_meta_L_self_modules_conv1d_parameters_bias_:
	name = "in_2"
	original_name = "L_self_modules_conv1d_parameters_bias_"
	shape = [20]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.1
