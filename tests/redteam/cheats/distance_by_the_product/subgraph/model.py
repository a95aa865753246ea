import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.unsqueeze(1)
        tmp_1 = in_1.unsqueeze(0)
        tmp_2 = tmp_0 - tmp_1
        tmp_3 = tmp_2.pow(2)
        tmp_4 = tmp_3.sum(-1)
        return (tmp_4,)
