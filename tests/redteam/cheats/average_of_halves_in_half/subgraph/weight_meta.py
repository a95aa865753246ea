class Program_weight_tensor_meta_L_left_:
	name = "in_0"
	original_name = "L_left_"
	shape = [64, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_right_:
	name = "in_1"
	original_name = "L_right_"
	shape = [64, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
