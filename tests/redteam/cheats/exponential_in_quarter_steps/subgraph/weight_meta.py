class Program_weight_tensor_meta_L_log_scale_:
	name = "in_0"
	original_name = "L_log_scale_"
	shape = [64, 96]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_up_:
	name = "in_1"
	original_name = "L_up_"
	shape = [64, 96]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
