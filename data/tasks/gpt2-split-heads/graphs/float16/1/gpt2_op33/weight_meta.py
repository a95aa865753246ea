class Program_weight_tensor_meta_x:
	name = "in_0"
	original_name = "x"
	shape = [1024, 2304]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000678489
	std = 0.551019
