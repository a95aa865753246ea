import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 - in_1
        tmp_1 = tmp_0.float()
        tmp_2 = tmp_1 * 0.001
        return (tmp_2,)
