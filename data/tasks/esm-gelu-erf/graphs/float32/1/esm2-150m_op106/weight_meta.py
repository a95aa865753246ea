class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [4, 256, 2560]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00268407
	std = 0.508468
