class Program_weight_tensor_meta_L_token_embeddings_:
	name = "in_0"
	original_name = "L_token_embeddings_"
	shape = [4, 19, 36]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_attention_mask_:
	name = "in_1"
	original_name = "L_attention_mask_"
	shape = [4, 19]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1
