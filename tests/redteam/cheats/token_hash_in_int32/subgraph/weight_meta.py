class Program_weight_tensor_meta_L_ids_:
	name = "in_0"
	original_name = "L_ids_"
	shape = [8, 33]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1500


class Program_weight_tensor_meta_L_offsets_:
	name = "in_1"
	original_name = "L_offsets_"
	shape = [8, 33]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1500
