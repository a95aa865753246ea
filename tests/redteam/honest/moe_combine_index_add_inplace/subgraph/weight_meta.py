class Program_weight_tensor_meta_L_final_hidden_states_:
	name = "in_0"
	original_name = "L_final_hidden_states_"
	shape = [30, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_top_x_:
	name = "in_1"
	original_name = "L_top_x_"
	shape = [50]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 29


class Program_weight_tensor_meta_L_expert_output_:
	name = "in_2"
	original_name = "L_expert_output_"
	shape = [50, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_routing_weights_:
	name = "in_3"
	original_name = "L_routing_weights_"
	shape = [50]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.3
	std = 0.2
