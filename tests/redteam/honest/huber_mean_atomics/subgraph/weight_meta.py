class Program_weight_tensor_meta_L_prediction_:
	name = "in_0"
	original_name = "L_prediction_"
	shape = [61, 47]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.5


class Program_weight_tensor_meta_L_target_:
	name = "in_1"
	original_name = "L_target_"
	shape = [61, 47]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
