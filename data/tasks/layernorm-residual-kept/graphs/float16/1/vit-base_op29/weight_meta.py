class Program_weight_tensor_meta_attn_output_3:
	name = "in_0"
	original_name = "attn_output_3"
	shape = [4, 197, 768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000520322
	std = 0.0231704


class Program_weight_tensor_meta_embeddings_3:
	name = "in_1"
	original_name = "embeddings_3"
	shape = [4, 197, 768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000827671
	std = 0.554046


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_layernorm_after_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_layers_modules_0_modules_layernorm_after_parameters_weight_"
	shape = [768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_layernorm_after_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_layers_modules_0_modules_layernorm_after_parameters_bias_"
	shape = [768]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
