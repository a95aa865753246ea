class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [4, 12, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.00056299
	std = 1.00131


class Program_weight_tensor_meta_values_1:
	name = "in_1"
	original_name = "values_1"
	shape = [1, 12, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0021823
	std = 0.0358329


class Program_weight_tensor_meta_mask:
	name = "in_2"
	original_name = "mask"
	shape = [4, 1, 256, 256]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
