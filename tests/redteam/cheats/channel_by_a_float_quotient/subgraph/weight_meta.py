class Program_weight_tensor_meta_L_feature_map_:
	name = "in_0"
	original_name = "L_feature_map_"
	shape = [2, 32, 1024, 1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_self_parameters_gain_:
	name = "in_1"
	original_name = "L_self_parameters_gain_"
	shape = [32, 1, 1]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.3
