class Program_weight_tensor_meta_L_query_:
	name = "in_0"
	original_name = "L_query_"
	shape = [2, 5, 7, 24]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_cos_:
	name = "in_1"
	original_name = "L_cos_"
	shape = [7, 16]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.5
	std = 0.4


class Program_weight_tensor_meta_L_sin_:
	name = "in_2"
	original_name = "L_sin_"
	shape = [7, 16]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.6
