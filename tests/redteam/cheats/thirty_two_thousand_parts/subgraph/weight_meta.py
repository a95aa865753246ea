class Program_weight_tensor_meta_L_gradients_:
	name = "in_0"
	original_name = "L_gradients_"
	shape = [8192, 8192]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
