class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00226523
	std = 1.00175


class Program_weight_tensor_meta_hidden_linear:
	name = "in_1"
	original_name = "hidden_linear"
	shape = [1, 128, 2048]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.000940559
	std = 1.00189
