class Program_weight_tensor_meta_L_scores_:
	name = "in_0"
	original_name = "L_scores_"
	shape = [16, 65]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 4.0


class Program_weight_tensor_meta_L_position_:
	name = "in_1"
	original_name = "L_position_"
	shape = [16, 65]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 4.0
