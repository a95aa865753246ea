class Program_weight_tensor_meta_L_counts_:
	name = "in_0"
	original_name = "L_counts_"
	shape = [128, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
