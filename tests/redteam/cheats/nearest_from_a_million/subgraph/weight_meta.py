class Program_weight_tensor_meta_L_distances_:
	name = "in_0"
	original_name = "L_distances_"
	shape = [64, 100]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
