class Program_weight_tensor_meta_attn_output:
	name = "in_0"
	original_name = "attn_output"
	shape = [1, 12, 128, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00979046
	std = 0.320211
