class Program_weight_tensor_meta_L_scores_:
	name = "in_0"
	original_name = "L_scores_"
	shape = [27, 43]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
