class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [16, 1024]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
