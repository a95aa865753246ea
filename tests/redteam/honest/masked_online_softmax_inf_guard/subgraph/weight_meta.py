class Program_weight_tensor_meta_L_attention_mask_:
	name = "in_0"
	original_name = "L_attention_mask_"
	shape = [2, 1, 1, 90]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_scores_:
	name = "in_1"
	original_name = "L_scores_"
	shape = [2, 4, 20, 90]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
