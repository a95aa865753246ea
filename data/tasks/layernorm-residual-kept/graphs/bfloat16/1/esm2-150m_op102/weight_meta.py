class Program_weight_tensor_meta_hidden_states:
	name = "in_0"
	original_name = "hidden_states"
	shape = [4, 256, 640]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00331259
	std = 0.0519038


class Program_weight_tensor_meta_embeddings_2:
	name = "in_1"
	original_name = "embeddings_2"
	shape = [4, 256, 640]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -5.58417e-05
	std = 0.0165442


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_layer_norm_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_layer_norm_parameters_weight_"
	shape = [640]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_layer_norm_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_layer_norm_parameters_bias_"
	shape = [640]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
