class Program_weight_tensor_meta_L_prediction_:
	name = "in_0"
	original_name = "L_prediction_"
	shape = [16, 150]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_target_:
	name = "in_1"
	original_name = "L_target_"
	shape = [16, 150]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
