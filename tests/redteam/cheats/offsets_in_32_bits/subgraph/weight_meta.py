class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [40, 8192, 8192]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
