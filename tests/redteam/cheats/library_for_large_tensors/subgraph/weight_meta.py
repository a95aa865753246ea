class Program_weight_tensor_meta_L_residual_:
	name = "in_0"
	original_name = "L_residual_"
	shape = [256, 1024, 1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0


class Program_weight_tensor_meta_L_branch_:
	name = "in_1"
	original_name = "L_branch_"
	shape = [256, 1024, 1024]
	dtype = "torch.bfloat16"
	device = "cuda:0"
	mean = 0.1
	std = 1.0
