class Program_weight_tensor_meta_L_qweight_:
	name = "in_0"
	original_name = "L_qweight_"
	shape = [9, 20]
	dtype = "torch.int32"
	device = "cuda:0"
	mean = None
	std = None
	min_val = -2147483648
	max_val = 2147483647


class Program_weight_tensor_meta_L_wf_:
	name = "in_1"
	original_name = "L_wf_"
	shape = [8]
	dtype = "torch.int32"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 28


class Program_weight_tensor_meta_L_zeros_:
	name = "in_2"
	original_name = "L_zeros_"
	shape = [20]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 7.5
	std = 1.0


class Program_weight_tensor_meta_L_scales_:
	name = "in_3"
	original_name = "L_scales_"
	shape = [20]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.02
	std = 0.005
