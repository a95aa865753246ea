class Program_weight_tensor_meta_L_given_:
	name = "in_0"
	original_name = "L_given_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_wanted_:
	name = "in_1"
	original_name = "L_wanted_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
