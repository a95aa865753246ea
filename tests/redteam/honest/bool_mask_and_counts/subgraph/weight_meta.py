class Program_weight_tensor_meta_L_input_ids_:
	name = "in_0"
	original_name = "L_input_ids_"
	shape = [3, 26]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 50


class Program_weight_tensor_meta_L_key_positions_:
	name = "in_1"
	original_name = "L_key_positions_"
	shape = [26]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 25


class Program_weight_tensor_meta_L_query_positions_:
	name = "in_2"
	original_name = "L_query_positions_"
	shape = [3, 26]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 25
