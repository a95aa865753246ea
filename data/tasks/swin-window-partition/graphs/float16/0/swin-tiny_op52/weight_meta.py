class Program_weight_tensor_meta_hidden_states_7:
	name = "in_0"
	original_name = "hidden_states_7"
	shape = [1, 3136, 96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.000251363
	std = 0.0402163


class Program_weight_tensor_meta_hidden_states_3:
	name = "in_1"
	original_name = "hidden_states_3"
	shape = [1, 3136, 96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 5.6459e-05
	std = 0.999742


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_weight_"
	shape = [96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_before_parameters_bias_"
	shape = [96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
