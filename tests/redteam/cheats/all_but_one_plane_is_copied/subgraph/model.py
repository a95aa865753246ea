import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.permute(0, 2, 1, 3)
        tmp_1 = tmp_0.contiguous()
        return (tmp_1,)
