class Program_weight_tensor_meta_L_ngram_ids_:
	name = "in_0"
	original_name = "L_ngram_ids_"
	shape = [64, 8]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 50000


class Program_weight_tensor_meta_L_table_sizes_:
	name = "in_1"
	original_name = "L_table_sizes_"
	shape = [8]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 101
	max_val = 997
