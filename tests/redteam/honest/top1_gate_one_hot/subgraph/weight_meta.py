class Program_weight_tensor_meta_L_router_logits_:
	name = "in_0"
	original_name = "L_router_logits_"
	shape = [37, 9]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
