import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.ne(1)
        tmp_1 = in_2.unsqueeze(-1)
        tmp_2 = in_1.le(tmp_1)
        tmp_3 = tmp_0.unsqueeze(1)
        tmp_4 = tmp_2 & tmp_3
        tmp_5 = tmp_4.sum(-1)
        return (tmp_4, tmp_5)
