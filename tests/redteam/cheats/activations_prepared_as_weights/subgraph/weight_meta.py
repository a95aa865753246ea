class Program_weight_tensor_meta_L_attn_weights_:
	name = "in_0"
	original_name = "L_attn_weights_"
	shape = [12, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_value_states_:
	name = "in_1"
	original_name = "L_value_states_"
	shape = [12, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
