class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 9216]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00106187
	std = 0.96065


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 9216]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00411243
	std = 0.961772
