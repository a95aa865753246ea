class Program_weight_tensor_meta_L_query_:
	name = "in_0"
	original_name = "L_query_"
	shape = [1, 2, 40, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_key_:
	name = "in_1"
	original_name = "L_key_"
	shape = [1, 2, 40, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_value_:
	name = "in_2"
	original_name = "L_value_"
	shape = [1, 2, 40, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
