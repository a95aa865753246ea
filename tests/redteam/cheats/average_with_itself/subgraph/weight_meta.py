class Program_weight_tensor_meta_L_running_average_:
	name = "in_0"
	original_name = "L_running_average_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_latest_:
	name = "in_1"
	original_name = "L_latest_"
	shape = [64, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
