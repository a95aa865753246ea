class Program_weight_tensor_meta_linear:
	name = "in_0"
	original_name = "linear"
	shape = [4, 256, 2048]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0020503
	std = 0.894493


class Program_weight_tensor_meta_cos_3:
	name = "in_1"
	original_name = "cos_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.603034
	std = 0.640816


class Program_weight_tensor_meta_sin_3:
	name = "in_2"
	original_name = "sin_3"
	shape = [1, 1, 256, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.11942
	std = 0.459831
