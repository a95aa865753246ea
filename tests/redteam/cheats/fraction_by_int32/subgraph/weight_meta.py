class Program_weight_tensor_meta_L_times_:
	name = "in_0"
	original_name = "L_times_"
	shape = [32, 96]
	dtype = "torch.float64"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
