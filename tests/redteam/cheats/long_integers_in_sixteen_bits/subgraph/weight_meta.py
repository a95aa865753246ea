class Program_weight_tensor_meta_ids_0:
	name = "in_0"
	original_name = "ids_0"
	shape = [8, 65]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1000


class Program_weight_tensor_meta_ids_1:
	name = "in_1"
	original_name = "ids_1"
	shape = [8, 65]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 1000
