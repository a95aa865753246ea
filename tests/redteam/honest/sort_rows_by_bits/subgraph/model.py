import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.sort(in_0, dim=-1)
        tmp_1 = tmp_0[0]
        return (tmp_1,)
