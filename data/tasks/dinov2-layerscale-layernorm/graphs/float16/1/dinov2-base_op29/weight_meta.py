class Program_weight_tensor_meta_attn_output_3:
	name = "in_0"
	original_name = "attn_output_3"
	shape = [4, 257, 768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.000651272
	std = 0.0208847


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_layer_scale1_parameters_lambda1_:
	name = "in_1"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_layer_scale1_parameters_lambda1_"
	shape = [768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_embeddings_3:
	name = "in_2"
	original_name = "embeddings_3"
	shape = [4, 257, 768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00010722
	std = 0.484403


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_norm2_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_norm2_parameters_weight_"
	shape = [768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_norm2_parameters_bias_:
	name = "in_4"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_norm2_parameters_bias_"
	shape = [768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
