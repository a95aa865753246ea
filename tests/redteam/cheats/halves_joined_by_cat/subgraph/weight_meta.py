class Program_weight_tensor_meta_L_query_states_:
	name = "in_0"
	original_name = "L_query_states_"
	shape = [2, 4, 16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_cos_:
	name = "in_1"
	original_name = "L_cos_"
	shape = [16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_sin_:
	name = "in_2"
	original_name = "L_sin_"
	shape = [16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
