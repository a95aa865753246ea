class Program_weight_tensor_meta_L_relative_position_:
	name = "in_0"
	original_name = "L_relative_position_"
	shape = [8, 33]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 63
