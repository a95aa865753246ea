class Program_weight_tensor_meta_L_distances_:
	name = "in_0"
	original_name = "L_distances_"
	shape = [6, 37, 50]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
