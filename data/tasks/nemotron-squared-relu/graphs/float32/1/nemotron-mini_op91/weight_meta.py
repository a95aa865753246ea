class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 8192]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00254573
	std = 1.21181
