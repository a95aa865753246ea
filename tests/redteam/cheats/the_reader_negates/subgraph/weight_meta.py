class Program_weight_tensor_meta_L_gradient_:
	name = "in_0"
	original_name = "L_gradient_"
	shape = [12, 90]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_step_:
	name = "in_1"
	original_name = "L_step_"
	shape = [12, 90]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
