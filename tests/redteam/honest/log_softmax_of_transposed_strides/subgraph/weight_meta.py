class Program_weight_tensor_meta_L_class_logits_:
	name = "in_0"
	original_name = "L_class_logits_"
	shape = [4, 90, 21]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
