class Program_weight_tensor_meta_L_offsets_:
	name = "in_0"
	original_name = "L_offsets_"
	shape = [31, 33]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = -1000
	max_val = 1000
