import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.outer(in_0, in_1)
        tmp_1 = torch.cos(tmp_0)
        tmp_2 = torch.sin(tmp_0)
        return (tmp_1, tmp_2)
