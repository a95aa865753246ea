class Program_weight_tensor_meta_linear_2:
	name = "in_0"
	original_name = "linear_2"
	shape = [4, 256, 4096]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.03928e-05
	std = 0.64065
