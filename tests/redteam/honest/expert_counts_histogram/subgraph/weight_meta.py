class Program_weight_tensor_meta_L_expert_ids_:
	name = "in_0"
	original_name = "L_expert_ids_"
	shape = [701]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 23
