class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_norm_parameters_weight_"
	shape = [160]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 0.3


class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_1"
	original_name = "L_hidden_states_"
	shape = [20, 160]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
