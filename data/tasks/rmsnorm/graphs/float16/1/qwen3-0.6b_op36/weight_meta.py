class Program_weight_tensor_meta_inputs_embeds:
	name = "in_0"
	original_name = "inputs_embeds"
	shape = [4, 256, 1024]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.15682e-05
	std = 0.0200012


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_"
	shape = [1024]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0
