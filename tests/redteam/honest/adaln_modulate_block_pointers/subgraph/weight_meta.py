class Program_weight_tensor_meta_L_hidden_states_:
	name = "in_0"
	original_name = "L_hidden_states_"
	shape = [3, 19, 40]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.2
	std = 1.0


class Program_weight_tensor_meta_L_shift_:
	name = "in_1"
	original_name = "L_shift_"
	shape = [3, 40]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.5


class Program_weight_tensor_meta_L_scale_:
	name = "in_2"
	original_name = "L_scale_"
	shape = [3, 40]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.3
