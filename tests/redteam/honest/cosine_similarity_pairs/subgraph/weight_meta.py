class Program_weight_tensor_meta_L_image_embeds_:
	name = "in_0"
	original_name = "L_image_embeds_"
	shape = [33, 75]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0


class Program_weight_tensor_meta_L_text_embeds_:
	name = "in_1"
	original_name = "L_text_embeds_"
	shape = [33, 75]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.0
	std = 1.0
