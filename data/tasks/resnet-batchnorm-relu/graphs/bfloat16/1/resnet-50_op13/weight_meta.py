class Program_weight_tensor_meta_hidden_state:
	name = "in_0"
	original_name = "hidden_state"
	shape = [4, 256, 56, 56]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0153404
	std = 0.315553


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_buffers_running_mean_:
	name = "in_1"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_buffers_running_mean_"
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_buffers_running_var_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_buffers_running_var_"
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0
	min_val = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_parameters_weight_"
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_parameters_bias_:
	name = "in_4"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_shortcut_modules_normalization_parameters_bias_"
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0


class Program_weight_tensor_meta_hidden_states_10:
	name = "in_5"
	original_name = "hidden_states_10"
	shape = [4, 256, 56, 56]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0179223
	std = 0.369678
