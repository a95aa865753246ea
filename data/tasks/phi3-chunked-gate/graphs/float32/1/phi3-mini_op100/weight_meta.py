class Program_weight_tensor_meta_up_states:
	name = "in_0"
	original_name = "up_states"
	shape = [4, 256, 16384]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000663471
	std = 1.1074
