class Program_weight_tensor_meta_L_positions_:
	name = "in_0"
	original_name = "L_positions_"
	shape = [48]
	dtype = "torch.float64"
	device = "cuda:0"
	mean = 8.0
	std = 6.0


class Program_weight_tensor_meta_L_frequencies_:
	name = "in_1"
	original_name = "L_frequencies_"
	shape = [32]
	dtype = "torch.float64"
	device = "cuda:0"
	mean = 0.2
	std = 0.2
