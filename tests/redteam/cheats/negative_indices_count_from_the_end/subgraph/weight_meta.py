class Program_weight_tensor_meta_L_self_parameters_relative_keys_:
	name = "in_0"
	original_name = "L_self_parameters_relative_keys_"
	shape = [31, 48]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_offsets_:
	name = "in_1"
	original_name = "L_offsets_"
	shape = [12, 12]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 30
