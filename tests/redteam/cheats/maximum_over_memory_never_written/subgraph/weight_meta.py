class Program_weight_tensor_meta_L_frames_:
	name = "in_0"
	original_name = "L_frames_"
	shape = [4, 20, 200]
	dtype = "torch.float32"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
