import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * 0.125
        tmp_1 = tmp_0.view(2, 12, 4, 16)
        tmp_2 = tmp_1.transpose(1, 2)
        return (tmp_0, tmp_2)
