class Program_weight_tensor_meta_L_self_modules_down_proj_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_down_proj_parameters_weight_"
	shape = [48, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.1


class Program_weight_tensor_meta_L_gate_:
	name = "in_1"
	original_name = "L_gate_"
	shape = [24, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_up_:
	name = "in_2"
	original_name = "L_up_"
	shape = [24, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
