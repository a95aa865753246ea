class Program_weight_tensor_meta_L_scores_:
	name = "in_0"
	original_name = "L_scores_"
	shape = [4, 64, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_source_mask_:
	name = "in_1"
	original_name = "L_source_mask_"
	shape = [4, 64, 1]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
