class Program_weight_tensor_meta_L_initial_state_:
	name = "in_0"
	original_name = "L_initial_state_"
	shape = [64, 32]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_self_parameters_recurrent_:
	name = "in_1"
	original_name = "L_self_parameters_recurrent_"
	shape = [32, 32]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.02
	std = 0.2
