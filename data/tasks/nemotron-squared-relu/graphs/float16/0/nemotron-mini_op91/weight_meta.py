class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 8192]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00478861
	std = 1.20938
