class Program_weight_tensor_meta_L_gate_up_:
	name = "in_0"
	original_name = "L_gate_up_"
	shape = [7, 5, 90]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 4.0
