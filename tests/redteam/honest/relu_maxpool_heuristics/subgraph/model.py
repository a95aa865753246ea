import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.nn.functional.relu(in_0, inplace=False)
        tmp_1 = torch.nn.functional.max_pool2d(tmp_0, 3, 2, 1, 1, ceil_mode=False, return_indices=False)
        return (tmp_1,)
