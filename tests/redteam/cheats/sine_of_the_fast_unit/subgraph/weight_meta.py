class Program_weight_tensor_meta_L_position_angles_:
	name = "in_0"
	original_name = "L_position_angles_"
	shape = [16, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 30.0
	std = 900.0


class Program_weight_tensor_meta_L_query_:
	name = "in_1"
	original_name = "L_query_"
	shape = [16, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
