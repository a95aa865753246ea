class Program_weight_tensor_meta_L_profiles_:
	name = "in_0"
	original_name = "L_profiles_"
	shape = [64, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
