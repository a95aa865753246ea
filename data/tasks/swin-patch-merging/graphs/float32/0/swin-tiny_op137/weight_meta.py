class Program_weight_tensor_meta_hidden_states_18:
	name = "in_0"
	original_name = "hidden_states_18"
	shape = [1, 3136, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00112926
	std = 0.039198


class Program_weight_tensor_meta_hidden_states_14:
	name = "in_1"
	original_name = "hidden_states_14"
	shape = [1, 3136, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000176625
	std = 1.00024


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_weight_"
	shape = [384]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_bias_"
	shape = [384]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
