class Program_weight_tensor_meta_L_log_scale_:
	name = "in_0"
	original_name = "L_log_scale_"
	shape = [8, 65]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 1.0
	std = 3.0
