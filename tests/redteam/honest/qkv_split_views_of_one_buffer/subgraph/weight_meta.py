class Program_weight_tensor_meta_L_self_modules_qkv_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_qkv_parameters_bias_"
	shape = [192]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.2


class Program_weight_tensor_meta_L_qkv_:
	name = "in_1"
	original_name = "L_qkv_"
	shape = [2, 12, 192]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
