class Program_weight_tensor_meta_conv2d:
	name = "in_0"
	original_name = "conv2d"
	shape = [1, 768, 14, 14]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00227879
	std = 0.556028


class Program_weight_tensor_meta_l_self_modules_embeddings_parameters_cls_token_:
	name = "in_1"
	original_name = "l_self_modules_embeddings_parameters_cls_token_"
	shape = [1, 1, 768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000560672
	std = 0.0195994


class Program_weight_tensor_meta_l_self_modules_embeddings_parameters_position_embeddings_:
	name = "in_2"
	original_name = "l_self_modules_embeddings_parameters_position_embeddings_"
	shape = [1, 197, 768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 6.85942e-06
	std = 0.0200051


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_layernorm_before_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_layers_modules_0_modules_layernorm_before_parameters_weight_"
	shape = [768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_layernorm_before_parameters_bias_:
	name = "in_4"
	original_name = "l_self_modules_layers_modules_0_modules_layernorm_before_parameters_bias_"
	shape = [768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
