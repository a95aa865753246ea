class Program_weight_tensor_meta_L_event_times_:
	name = "in_0"
	original_name = "L_event_times_"
	shape = [16, 64]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 99999


class Program_weight_tensor_meta_L_previous_times_:
	name = "in_1"
	original_name = "L_previous_times_"
	shape = [16, 64]
	dtype = "torch.int64"
	device = "cuda:0"
	mean = None
	std = None
	min_val = 0
	max_val = 99999
