class Program_weight_tensor_meta_activations_0:
	name = "in_0"
	original_name = "activations_0"
	shape = [8, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_activations_1:
	name = "in_1"
	original_name = "activations_1"
	shape = [8, 65]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
