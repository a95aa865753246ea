class Program_weight_tensor_meta_hidden_states_7:
	name = "in_0"
	original_name = "hidden_states_7"
	shape = [4, 3136, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000277784
	std = 0.0402369


class Program_weight_tensor_meta_hidden_states_3:
	name = "in_1"
	original_name = "hidden_states_3"
	shape = [4, 3136, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 4.94915e-06
	std = 0.999739


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_weight_"
	shape = [96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_bias_"
	shape = [96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
