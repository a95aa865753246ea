class Program_weight_tensor_meta_L_latents_:
	name = "in_0"
	original_name = "L_latents_"
	shape = [24, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_codes_:
	name = "in_1"
	original_name = "L_codes_"
	shape = [16, 64]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
