import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * in_0
        tmp_1 = tmp_0.sum()
        return (tmp_1,)
