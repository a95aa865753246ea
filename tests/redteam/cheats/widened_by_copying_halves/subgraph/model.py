import torch
from torch import device

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.to(torch.float32)
        tmp_1 = torch.sigmoid(tmp_0)
        return (tmp_1,)
