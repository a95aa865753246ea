class Program_weight_tensor_meta_L_hazard_:
	name = "in_0"
	original_name = "L_hazard_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.005
	std = 0.003
	min_val = 0.0
	max_val = 0.01
