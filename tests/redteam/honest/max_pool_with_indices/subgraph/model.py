import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.nn.functional.max_pool2d(in_0, 3, 2, 1, 1, ceil_mode=False, return_indices=True)
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        return (tmp_1, tmp_2)
