class Program_weight_tensor_meta_linear_4:
	name = "in_0"
	original_name = "linear_4"
	shape = [4, 256, 9216]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00105878
	std = 0.960648


class Program_weight_tensor_meta_linear_5:
	name = "in_1"
	original_name = "linear_5"
	shape = [4, 256, 9216]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00410656
	std = 0.961768
