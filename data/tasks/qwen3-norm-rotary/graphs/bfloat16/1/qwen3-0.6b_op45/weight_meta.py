class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00033535
	std = 0.63927


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_self_attn_modules_q_norm_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_layers_modules_0_modules_self_attn_modules_q_norm_parameters_weight_"
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_cos_3:
	name = "in_2"
	original_name = "cos_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.437918
	std = 0.699859


class Program_weight_tensor_meta_sin_3:
	name = "in_3"
	original_name = "sin_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.168662
	std = 0.538633
