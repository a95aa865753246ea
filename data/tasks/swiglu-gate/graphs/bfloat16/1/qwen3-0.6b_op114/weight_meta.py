class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 1.90576e-05
	std = 0.641026


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 3072]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00369144
	std = 0.639556
