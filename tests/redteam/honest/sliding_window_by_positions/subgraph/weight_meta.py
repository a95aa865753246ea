class Program_weight_tensor_meta_L_attn_weights_:
	name = "in_0"
	original_name = "L_attn_weights_"
	shape = [2, 3, 13, 21]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_query_positions_:
	name = "in_1"
	original_name = "L_query_positions_"
	shape = [13]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 20


class Program_weight_tensor_meta_L_key_positions_:
	name = "in_2"
	original_name = "L_key_positions_"
	shape = [21]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 20
