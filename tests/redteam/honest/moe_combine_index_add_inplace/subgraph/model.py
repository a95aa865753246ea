import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_3.unsqueeze(-1)
        tmp_1 = in_2 * tmp_0
        tmp_2 = in_0.index_add_(0, in_1, tmp_1)
        return (tmp_2,)
