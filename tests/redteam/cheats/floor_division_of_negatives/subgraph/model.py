import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 // 4
        tmp_1 = in_0 % 4
        tmp_2 = tmp_0 * 10
        tmp_3 = tmp_2 + tmp_1
        return (tmp_3,)
