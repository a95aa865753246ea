class Program_weight_tensor_meta_L_prices_:
	name = "in_0"
	original_name = "L_prices_"
	shape = [12, 100]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
