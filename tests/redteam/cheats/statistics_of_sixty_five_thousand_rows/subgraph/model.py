import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.mean(-1, keepdim = True)
        tmp_1 = in_0 - tmp_0
        return (tmp_1,)
