class Program_weight_tensor_meta_L_x_:
	name = "in_0"
	original_name = "L_x_"
	shape = [2, 4, 9, 11]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
