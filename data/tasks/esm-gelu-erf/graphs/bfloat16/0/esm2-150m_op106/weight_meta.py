class Program_weight_tensor_meta_hidden_states_3:
	name = "in_0"
	original_name = "hidden_states_3"
	shape = [1, 128, 2560]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00703552
	std = 0.505535
