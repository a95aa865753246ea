class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [6176, 512]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_projection_:
	name = "in_1"
	original_name = "L_projection_"
	shape = [512, 4096]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
