class Program_weight_tensor_meta_L_left_:
	name = "in_0"
	original_name = "L_left_"
	shape = [10, 70]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_right_:
	name = "in_1"
	original_name = "L_right_"
	shape = [10, 70]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
