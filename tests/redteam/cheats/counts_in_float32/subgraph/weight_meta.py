class Program_weight_tensor_meta_L_attention_mask_:
	name = "in_0"
	original_name = "L_attention_mask_"
	shape = [8, 8192, 8192]
	dtype = "torch.bool"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1
