class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [1, 12, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.000715676
	std = 1.00671


class Program_weight_tensor_meta_values_1:
	name = "in_1"
	original_name = "values_1"
	shape = [1, 12, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.00365778
	std = 0.0379209


class Program_weight_tensor_meta_mask:
	name = "in_2"
	original_name = "mask"
	shape = [1, 1, 128, 128]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.0
	std = 0.0
