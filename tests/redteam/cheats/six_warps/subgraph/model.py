import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 - in_1
        tmp_1 = torch.abs(tmp_0)
        tmp_2 = tmp_1.amax(-1)
        return (tmp_2,)
