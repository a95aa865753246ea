class Program_weight_tensor_meta_L_spectrum_:
	name = "in_0"
	original_name = "L_spectrum_"
	shape = [16, 16, 16]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
