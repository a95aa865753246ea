class Program_weight_tensor_meta_L_tokens_:
	name = "in_0"
	original_name = "L_tokens_"
	shape = [8, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_mix_:
	name = "in_1"
	original_name = "L_mix_"
	shape = [8, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
