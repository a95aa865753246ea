class Program_weight_tensor_meta_attn_output_3:
	name = "in_0"
	original_name = "attn_output_3"
	shape = [4, 256, 2304]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000399333
	std = 0.181918


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_"
	shape = [2304]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0


class Program_weight_tensor_meta_inputs_embeds:
	name = "in_2"
	original_name = "inputs_embeds"
	shape = [4, 256, 2304]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.000497522
	std = 0.959441


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_pre_feedforward_layernorm_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_layers_modules_0_modules_pre_feedforward_layernorm_parameters_weight_"
	shape = [2304]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
