class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_norm_parameters_weight_"
	shape = [64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_1"
	original_name = "L_hidden_states_"
	shape = [9, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
