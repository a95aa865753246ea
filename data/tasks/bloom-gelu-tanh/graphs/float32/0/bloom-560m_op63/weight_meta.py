class Program_weight_tensor_meta_linear_2:
	name = "in_0"
	original_name = "linear_2"
	shape = [1, 128, 4096]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000821847
	std = 0.641613
