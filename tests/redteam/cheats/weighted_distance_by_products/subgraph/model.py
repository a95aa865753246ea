import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0 - in_1
        tmp_1 = tmp_0 ** 2
        tmp_2 = tmp_1 * in_2
        tmp_3 = tmp_2.sum(dim=-1)
        return (tmp_3,)
