class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [4, 8, 256, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0041458
	std = 14.7707


class Program_weight_tensor_meta_mask_1:
	name = "in_1"
	original_name = "mask_1"
	shape = [4, 1, 256, 256]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
