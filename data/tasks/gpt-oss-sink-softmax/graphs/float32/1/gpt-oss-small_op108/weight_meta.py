class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [1, 16, 128, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00438961
	std = 5.79751


class Program_weight_tensor_meta_mask_1:
	name = "in_1"
	original_name = "mask_1"
	shape = [1, 1, 128, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_self_attn_parameters_sinks_:
	name = "in_2"
	original_name = "l_self_modules_layers_modules_0_modules_self_attn_parameters_sinks_"
	shape = [16]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00438798
	std = 0.0190671
