class Program_weight_tensor_meta_L_flags_:
	name = "in_0"
	original_name = "L_flags_"
	shape = [64, 48]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1


class Program_weight_tensor_meta_L_shifts_:
	name = "in_1"
	original_name = "L_shifts_"
	shape = [48]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 20
