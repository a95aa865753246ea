class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [1, 77, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.0165815
	std = 0.712092
