class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 5632]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00634044
	std = 0.906378


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [1, 128, 5632]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.0075535
	std = 0.903842
