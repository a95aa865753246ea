class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [1, 77, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.0165976
	std = 0.71212
