class Program_weight_tensor_meta_L_alpha_:
	name = "in_0"
	original_name = "L_alpha_"
	shape = [45, 50]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.3
	std = 0.2
