class Program_weight_tensor_meta_x_4:
	name = "in_0"
	original_name = "x_4"
	shape = [1024, 3072]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00252096
	std = 0.550839
