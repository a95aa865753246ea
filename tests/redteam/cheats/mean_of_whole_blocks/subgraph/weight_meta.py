class Program_weight_tensor_meta_L_self_modules_proj_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_proj_parameters_weight_"
	shape = [95, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.05
