class Program_weight_tensor_meta_L_steps_:
	name = "in_0"
	original_name = "L_steps_"
	shape = [4, 40, 96]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
