class Program_weight_tensor_meta_L_self_parameters_layer_scale_:
	name = "in_0"
	original_name = "L_self_parameters_layer_scale_"
	shape = [640]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 0.02


class Program_weight_tensor_meta_L_residual_:
	name = "in_1"
	original_name = "L_residual_"
	shape = [512, 256, 640]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_branch_:
	name = "in_2"
	original_name = "L_branch_"
	shape = [512, 256, 640]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
