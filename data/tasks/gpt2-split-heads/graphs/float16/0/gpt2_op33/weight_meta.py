class Program_weight_tensor_meta_x:
	name = "in_0"
	original_name = "x"
	shape = [128, 2304]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000408172
	std = 0.551447
