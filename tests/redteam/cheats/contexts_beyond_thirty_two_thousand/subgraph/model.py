import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.float()
        tmp_1 = tmp_0.unsqueeze(-1)
        tmp_2 = tmp_1 * in_1
        tmp_3 = tmp_2.cos()
        tmp_4 = tmp_2.sin()
        return (tmp_3, tmp_4)
