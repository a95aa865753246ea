import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_1.pow(2)
        tmp_1 = tmp_0.mean(-1, keepdim=True)
        tmp_2 = tmp_1 + 1e-06
        tmp_3 = torch.rsqrt(tmp_2)
        tmp_4 = in_1 * tmp_3
        tmp_5 = tmp_4 * in_0
        return (tmp_5,)
