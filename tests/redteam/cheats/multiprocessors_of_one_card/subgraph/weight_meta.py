class Program_weight_tensor_meta_L_logits_:
	name = "in_0"
	original_name = "L_logits_"
	shape = [160, 1100]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 20.0
