class Program_weight_tensor_meta_L_self_modules_act_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_act_parameters_weight_"
	shape = [24]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.25
	std = 0.02


class Program_weight_tensor_meta_L_features_:
	name = "in_1"
	original_name = "L_features_"
	shape = [4, 24, 9, 9]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
