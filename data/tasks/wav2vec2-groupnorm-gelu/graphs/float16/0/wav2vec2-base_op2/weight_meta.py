class Program_weight_tensor_meta_hidden_states_1:
	name = "in_0"
	original_name = "hidden_states_1"
	shape = [1, 512, 3199]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000680321
	std = 1.45395


class Program_weight_tensor_meta_l_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_weight_"
	shape = [512]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_bias_:
	name = "in_2"
	original_name = "l_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_bias_"
	shape = [512]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
