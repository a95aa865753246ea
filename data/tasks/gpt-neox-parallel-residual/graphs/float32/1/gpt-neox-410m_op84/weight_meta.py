class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [4, 256, 1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00725224
	std = 0.487681


class Program_weight_tensor_meta_attn_output_4:
	name = "in_1"
	original_name = "attn_output_4"
	shape = [4, 256, 1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.000560593
	std = 0.0685541


class Program_weight_tensor_meta_hidden_states:
	name = "in_2"
	original_name = "hidden_states"
	shape = [4, 256, 1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -4.74836e-05
	std = 0.0199814


class Program_weight_tensor_meta_l_self_modules_final_layer_norm_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_final_layer_norm_parameters_weight_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_final_layer_norm_parameters_bias_:
	name = "in_4"
	original_name = "l_self_modules_final_layer_norm_parameters_bias_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
