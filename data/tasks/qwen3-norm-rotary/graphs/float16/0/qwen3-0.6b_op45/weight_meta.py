class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [1, 128, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000828225
	std = 0.640154


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_self_attn_modules_q_norm_parameters_weight_:
	name = "in_1"
	original_name = "l_self_modules_layers_modules_0_modules_self_attn_modules_q_norm_parameters_weight_"
	shape = [128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 0.0


class Program_weight_tensor_meta_cos_3:
	name = "in_2"
	original_name = "cos_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.513906
	std = 0.674927


class Program_weight_tensor_meta_sin_3:
	name = "in_3"
	original_name = "sin_3"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.169379
	std = 0.501692
