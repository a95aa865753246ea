class Program_weight_tensor_meta_attn_output:
	name = "in_0"
	original_name = "attn_output"
	shape = [4, 16, 256, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00139854
	std = 0.106973
