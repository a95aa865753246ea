class Program_weight_tensor_meta_L_measured_:
	name = "in_0"
	original_name = "L_measured_"
	shape = [32, 60]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_expected_:
	name = "in_1"
	original_name = "L_expected_"
	shape = [32, 60]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
