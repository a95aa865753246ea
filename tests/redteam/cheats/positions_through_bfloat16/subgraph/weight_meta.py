class Program_weight_tensor_meta_L_position_ids_:
	name = "in_0"
	original_name = "L_position_ids_"
	shape = [32]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 31


class Program_weight_tensor_meta_L_inv_freq_:
	name = "in_1"
	original_name = "L_inv_freq_"
	shape = [16]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.3
	std = 0.3
