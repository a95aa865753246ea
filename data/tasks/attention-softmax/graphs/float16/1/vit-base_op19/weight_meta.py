class Program_weight_tensor_meta_matmul:
	name = "in_0"
	original_name = "matmul"
	shape = [4, 12, 197, 197]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = -0.00178625
	std = 2.46101
