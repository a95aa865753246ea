class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [4, 256, 1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00723758
	std = 0.487757


class Program_weight_tensor_meta_attn_output_4:
	name = "in_1"
	original_name = "attn_output_4"
	shape = [4, 256, 1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00055614
	std = 0.0685533


class Program_weight_tensor_meta_hidden_states:
	name = "in_2"
	original_name = "hidden_states"
	shape = [4, 256, 1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -4.75359e-05
	std = 0.0199813


class Program_weight_tensor_meta_l_self_modules_final_layer_norm_parameters_weight_:
	name = "in_3"
	original_name = "l_self_modules_final_layer_norm_parameters_weight_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_final_layer_norm_parameters_bias_:
	name = "in_4"
	original_name = "l_self_modules_final_layer_norm_parameters_bias_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
