class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [1, 12, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000703267
	std = 1.00675


class Program_weight_tensor_meta_values_1:
	name = "in_1"
	original_name = "values_1"
	shape = [1, 12, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0036588
	std = 0.0379214


class Program_weight_tensor_meta_mask:
	name = "in_2"
	original_name = "mask"
	shape = [1, 1, 128, 128]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
