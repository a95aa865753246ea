class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [1, 32, 128, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = -0.00216395
	std = 6.50886


class Program_weight_tensor_meta_mask:
	name = "in_1"
	original_name = "mask"
	shape = [1, 1, 128, 128]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
