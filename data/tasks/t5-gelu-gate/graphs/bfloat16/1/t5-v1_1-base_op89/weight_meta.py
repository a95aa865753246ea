class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000348179
	std = 1.00135


class Program_weight_tensor_meta_hidden_linear:
	name = "in_1"
	original_name = "hidden_linear"
	shape = [4, 256, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00168124
	std = 1.00169
