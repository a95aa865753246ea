class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 5632]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00409635
	std = 0.902625


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 5632]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000228459
	std = 0.905404
