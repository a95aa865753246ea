class Program_weight_tensor_meta_L_scores_:
	name = "in_0"
	original_name = "L_scores_"
	shape = [2, 6, 17, 17]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_slopes_:
	name = "in_1"
	original_name = "L_slopes_"
	shape = [6]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.2
	std = 0.1


class Program_weight_tensor_meta_L_positions_:
	name = "in_2"
	original_name = "L_positions_"
	shape = [17]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 16
