import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.sum(dim=0)
        tmp_1 = in_0 * in_0
        tmp_2 = tmp_1.sum(dim=0)
        return (tmp_0, tmp_2)
