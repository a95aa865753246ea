import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 * 3
        tmp_1 = tmp_0 + in_1
        tmp_2 = tmp_1 % 7
        return (tmp_2,)
