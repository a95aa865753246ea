class Program_weight_tensor_meta_L_logits_:
	name = "in_0"
	original_name = "L_logits_"
	shape = [5, 83, 23]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 2.0
