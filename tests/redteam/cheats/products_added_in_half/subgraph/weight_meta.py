class Program_weight_tensor_meta_L_probabilities_:
	name = "in_0"
	original_name = "L_probabilities_"
	shape = [2, 4, 64, 512]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_values_:
	name = "in_1"
	original_name = "L_values_"
	shape = [2, 4, 512, 64]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
