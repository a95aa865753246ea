class Program_weight_tensor_meta_L_position_ids_:
	name = "in_0"
	original_name = "L_position_ids_"
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 63


class Program_weight_tensor_meta_L_self_buffers_inv_freq_:
	name = "in_1"
	original_name = "L_self_buffers_inv_freq_"
	shape = [16]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.2
	std = 0.3
