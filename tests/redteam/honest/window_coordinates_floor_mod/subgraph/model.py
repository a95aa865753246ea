import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 // 7
        tmp_1 = in_0 % 7
        tmp_2 = tmp_1 == 0
        return (tmp_0, tmp_1, tmp_2)
