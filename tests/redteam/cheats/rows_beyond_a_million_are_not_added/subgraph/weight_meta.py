class Program_weight_tensor_meta_L_output_gradient_:
	name = "in_0"
	original_name = "L_output_gradient_"
	shape = [1024, 2048, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
