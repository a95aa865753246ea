class Program_weight_tensor_meta_out:
	name = "in_0"
	original_name = "out"
	shape = [128, 2048]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.000910826
	std = 0.641871
