class Program_weight_tensor_meta_inputs_embeds:
	name = "in_0"
	original_name = "inputs_embeds"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -7.67366e-06
	std = 0.0199883


class Program_weight_tensor_meta_attn_output_3:
	name = "in_1"
	original_name = "attn_output_3"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00191878
	std = 0.162599


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_:
	name = "in_2"
	original_name = "l_self_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_"
	shape = [2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.0
