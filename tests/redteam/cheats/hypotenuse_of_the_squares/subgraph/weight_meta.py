class Program_weight_tensor_meta_L_real_:
	name = "in_0"
	original_name = "L_real_"
	shape = [16, 129]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_imag_:
	name = "in_1"
	original_name = "L_imag_"
	shape = [16, 129]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
