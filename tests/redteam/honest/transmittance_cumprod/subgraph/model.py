import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = 1.0 - in_0
        tmp_1 = tmp_0 + 1e-10
        tmp_2 = torch.cumprod(tmp_1, dim=-1)
        return (tmp_2,)
