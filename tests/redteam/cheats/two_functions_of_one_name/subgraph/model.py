import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.pow(2)
        tmp_1 = tmp_0.mean(-1, keepdim = True)
        tmp_2 = tmp_1 + 1e-06
        tmp_3 = torch.rsqrt(tmp_2)
        tmp_4 = in_0 * tmp_3
        return (tmp_4,)
