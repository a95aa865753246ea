class Program_weight_tensor_meta_attention_scores:
	name = "in_0"
	original_name = "attention_scores"
	shape = [16, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 9.54437
	std = 15.6993


class Program_weight_tensor_meta_mask:
	name = "in_1"
	original_name = "mask"
	shape = [1, 1, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
