class Program_weight_tensor_meta_L_images_:
	name = "in_0"
	original_name = "L_images_"
	shape = [8, 64, 1024, 1280]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_gain_:
	name = "in_1"
	original_name = "L_gain_"
	shape = [8, 64, 1, 1]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
