class Program_weight_tensor_meta_L_query_:
	name = "in_0"
	original_name = "L_query_"
	shape = [2, 9, 6, 24]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_key_:
	name = "in_1"
	original_name = "L_key_"
	shape = [2, 9, 2, 24]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_self_modules_q_norm_parameters_weight_:
	name = "in_2"
	original_name = "L_self_modules_q_norm_parameters_weight_"
	shape = [24]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.1


class Program_weight_tensor_meta_L_self_modules_k_norm_parameters_weight_:
	name = "in_3"
	original_name = "L_self_modules_k_norm_parameters_weight_"
	shape = [24]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.1
