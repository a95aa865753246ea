class Program_weight_tensor_meta_L_alpha_stay_:
	name = "in_0"
	original_name = "L_alpha_stay_"
	shape = [32, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_alpha_move_:
	name = "in_1"
	original_name = "L_alpha_move_"
	shape = [32, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
