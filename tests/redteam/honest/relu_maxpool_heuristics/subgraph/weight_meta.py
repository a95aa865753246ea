class Program_weight_tensor_meta_L_feature_map_:
	name = "in_0"
	original_name = "L_feature_map_"
	shape = [2, 10, 17, 19]
	dtype = "torch.float16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
