class Program_weight_tensor_meta_L_points_:
	name = "in_0"
	original_name = "L_points_"
	shape = [64, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_centres_:
	name = "in_1"
	original_name = "L_centres_"
	shape = [64, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_self_parameters_precision_:
	name = "in_2"
	original_name = "L_self_parameters_precision_"
	shape = [96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 1.0
	std = 0.1
