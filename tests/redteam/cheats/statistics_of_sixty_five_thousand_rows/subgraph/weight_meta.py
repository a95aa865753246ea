class Program_weight_tensor_meta_L_attention_states_:
	name = "in_0"
	original_name = "L_attention_states_"
	shape = [96, 32, 72, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
