class Program_weight_tensor_meta_L_feature_ids_:
	name = "in_0"
	original_name = "L_feature_ids_"
	shape = [8, 16]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 99999


class Program_weight_tensor_meta_L_self_modules_buckets_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_buckets_parameters_weight_"
	shape = [512, 32]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
