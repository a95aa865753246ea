class Program_weight_tensor_meta_L_grad_output_:
	name = "in_0"
	original_name = "L_grad_output_"
	shape = [11, 173]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_x_:
	name = "in_1"
	original_name = "L_x_"
	shape = [11, 173]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.5
