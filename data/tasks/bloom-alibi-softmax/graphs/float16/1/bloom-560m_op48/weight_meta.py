class Program_weight_tensor_meta_attention_scores:
	name = "in_0"
	original_name = "attention_scores"
	shape = [64, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 14.6636
	std = 26.338


class Program_weight_tensor_meta_mask:
	name = "in_1"
	original_name = "mask"
	shape = [4, 1, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
