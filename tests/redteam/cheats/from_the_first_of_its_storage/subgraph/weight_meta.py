class Program_weight_tensor_meta_L_gate_:
	name = "in_0"
	original_name = "L_gate_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_up_:
	name = "in_1"
	original_name = "L_up_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
