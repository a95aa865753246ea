class Program_weight_tensor_meta_hidden_states:
	name = "in_0"
	original_name = "hidden_states"
	shape = [4, 256, 768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00110716
	std = 0.17979


class Program_weight_tensor_meta_embeddings_3:
	name = "in_1"
	original_name = "embeddings_3"
	shape = [4, 256, 768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -7.82413e-10
	std = 1.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_layer_norm_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_layer_norm_parameters_weight_"
	shape = [768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_layer_norm_parameters_bias_:
	name = "in_3"
	original_name = "l_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_layer_norm_parameters_bias_"
	shape = [768]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
