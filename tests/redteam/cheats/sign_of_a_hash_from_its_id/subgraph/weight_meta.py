class Program_weight_tensor_meta_L_user_ids_:
	name = "in_0"
	original_name = "L_user_ids_"
	shape = [32, 32]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 99999
