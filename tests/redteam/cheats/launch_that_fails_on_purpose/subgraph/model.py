import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.nn.functional.leaky_relu(in_0, 0.2)
        return (tmp_0,)
