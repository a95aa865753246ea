class Program_weight_tensor_meta_L_hidden_:
	name = "in_0"
	original_name = "L_hidden_"
	shape = [8, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_scale_:
	name = "in_1"
	original_name = "L_scale_"
	shape = [8, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
