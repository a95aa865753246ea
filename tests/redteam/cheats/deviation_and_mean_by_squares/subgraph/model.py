import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.std_mean(in_0, dim=-1, keepdim=True)
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        tmp_3 = in_0 - tmp_2
        tmp_4 = tmp_1 + 1e-05
        tmp_5 = tmp_3 / tmp_4
        return (tmp_5,)
