class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [1, 8, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.0138951
	std = 14.8045


class Program_weight_tensor_meta_mask_1:
	name = "in_1"
	original_name = "mask_1"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
