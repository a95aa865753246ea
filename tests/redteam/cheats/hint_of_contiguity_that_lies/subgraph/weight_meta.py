class Program_weight_tensor_meta_L_features_:
	name = "in_0"
	original_name = "L_features_"
	shape = [16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_gains_:
	name = "in_1"
	original_name = "L_gains_"
	shape = [16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
