class Program_weight_tensor_meta_features_8:
	name = "in_0"
	original_name = "features_8"
	shape = [1, 56, 56, 96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000201031
	std = 0.0396088


class Program_weight_tensor_meta_features_2:
	name = "in_1"
	original_name = "features_2"
	shape = [1, 96, 56, 56]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 2.59049e-07
	std = 0.999971


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_1_modules_downsampling_layer_modules_0_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_stages_modules_1_modules_downsampling_layer_modules_0_parameters_weight_"
	shape = [96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_stages_modules_1_modules_downsampling_layer_modules_0_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_stages_modules_1_modules_downsampling_layer_modules_0_parameters_bias_"
	shape = [96]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
