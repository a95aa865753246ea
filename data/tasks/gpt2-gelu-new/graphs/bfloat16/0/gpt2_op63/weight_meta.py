class Program_weight_tensor_meta_x_4:
	name = "in_0"
	original_name = "x_4"
	shape = [128, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.0105845
	std = 0.550088
