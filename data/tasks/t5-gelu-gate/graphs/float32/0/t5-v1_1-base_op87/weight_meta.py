class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0022683
	std = 1.00173


class Program_weight_tensor_meta_hidden_linear:
	name = "in_1"
	original_name = "hidden_linear"
	shape = [1, 128, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.000971656
	std = 1.00187
