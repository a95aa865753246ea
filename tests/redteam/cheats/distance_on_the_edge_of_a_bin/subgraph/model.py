import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.linspace(3.25, 50.75, 15, device=device(type='cuda', index=0))
        tmp_1 = tmp_0 ** 2
        tmp_2 = in_0.unsqueeze(-1)
        tmp_3 = tmp_2 > tmp_1
        tmp_4 = tmp_3.sum(-1)
        return (tmp_4,)
