import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * 0.5
        tmp_1 = torch.tanh(tmp_0)
        tmp_2 = tmp_1 + 1.0
        tmp_3 = tmp_2 * in_0
        return (tmp_3,)
