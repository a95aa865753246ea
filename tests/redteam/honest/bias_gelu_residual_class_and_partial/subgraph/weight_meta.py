class Program_weight_tensor_meta_L_self_modules_fc_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_fc_parameters_bias_"
	shape = [129]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.2


class Program_weight_tensor_meta_L_hidden_:
	name = "in_1"
	original_name = "L_hidden_"
	shape = [3, 17, 129]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_residual_:
	name = "in_2"
	original_name = "L_residual_"
	shape = [3, 17, 129]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
