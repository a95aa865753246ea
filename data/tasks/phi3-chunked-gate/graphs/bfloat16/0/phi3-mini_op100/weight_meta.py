class Program_weight_tensor_meta_up_states:
	name = "in_0"
	original_name = "up_states"
	shape = [1, 128, 16384]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00765424
	std = 1.10778
