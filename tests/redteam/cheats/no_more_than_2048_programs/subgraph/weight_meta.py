class Program_weight_tensor_meta_L_gate_states_:
	name = "in_0"
	original_name = "L_gate_states_"
	shape = [64, 512, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_up_states_:
	name = "in_1"
	original_name = "L_up_states_"
	shape = [64, 512, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
