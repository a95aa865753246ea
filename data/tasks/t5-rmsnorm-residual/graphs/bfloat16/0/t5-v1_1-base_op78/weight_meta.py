class Program_weight_tensor_meta_attn_output_3:
	name = "in_0"
	original_name = "attn_output_3"
	shape = [1, 128, 768]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00419998
	std = 0.166306


class Program_weight_tensor_meta_hidden_states:
	name = "in_1"
	original_name = "hidden_states"
	shape = [1, 128, 768]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00978751
	std = 1.00001


class Program_weight_tensor_meta_l_self_modules_encoder_modules_block_modules_0_modules_layer_modules_1_modules_layer_norm_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_encoder_modules_block_modules_0_modules_layer_modules_1_modules_layer_norm_parameters_weight_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0
