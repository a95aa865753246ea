class Program_weight_tensor_meta_L_angles_:
	name = "in_0"
	original_name = "L_angles_"
	shape = [64, 96]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
