class Program_weight_tensor_meta_L_logits_:
	name = "in_0"
	original_name = "L_logits_"
	shape = [29, 150]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.5


class Program_weight_tensor_meta_L_labels_:
	name = "in_1"
	original_name = "L_labels_"
	shape = [29]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 149
