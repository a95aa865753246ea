import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.floor(in_0)
        tmp_1 = in_0 - tmp_0
        return (tmp_1, tmp_0)
