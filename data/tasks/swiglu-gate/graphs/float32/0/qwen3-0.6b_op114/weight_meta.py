class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [1, 128, 3072]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0038567
	std = 0.642345


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [1, 128, 3072]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.00209629
	std = 0.642532
