class Program_weight_tensor_meta_features_6:
	name = "in_0"
	original_name = "features_6"
	shape = [1, 56, 56, 384]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000267069
	std = 0.196987


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_grn_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_grn_parameters_weight_"
	shape = [1, 1, 1, 384]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_grn_parameters_bias_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_stages_modules_0_modules_layers_modules_0_modules_grn_parameters_bias_"
	shape = [1, 1, 1, 384]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
