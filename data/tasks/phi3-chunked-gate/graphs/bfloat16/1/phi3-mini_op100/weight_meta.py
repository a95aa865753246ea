class Program_weight_tensor_meta_up_states:
	name = "in_0"
	original_name = "up_states"
	shape = [4, 256, 16384]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000662963
	std = 1.10739
