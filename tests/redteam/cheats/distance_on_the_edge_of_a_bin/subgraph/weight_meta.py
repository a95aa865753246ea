class Program_weight_tensor_meta_L_squared_distances_:
	name = "in_0"
	original_name = "L_squared_distances_"
	shape = [24, 24]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 400.0
	std = 300.0
