class Program_weight_tensor_meta_L_query_:
	name = "in_0"
	original_name = "L_query_"
	shape = [2, 7, 5, 32]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_cos_:
	name = "in_1"
	original_name = "L_cos_"
	shape = [1, 7, 1, 32]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.3
	std = 0.6


class Program_weight_tensor_meta_L_sin_:
	name = "in_2"
	original_name = "L_sin_"
	shape = [1, 7, 1, 32]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.3
	std = 0.6
