class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [4, 32, 256, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = -0.00111129
	std = 6.54748


class Program_weight_tensor_meta_mask:
	name = "in_1"
	original_name = "mask"
	shape = [4, 1, 256, 256]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
