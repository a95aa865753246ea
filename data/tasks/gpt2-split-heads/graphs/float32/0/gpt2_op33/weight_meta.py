class Program_weight_tensor_meta_x:
	name = "in_0"
	original_name = "x"
	shape = [128, 2304]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.000407897
	std = 0.551445
