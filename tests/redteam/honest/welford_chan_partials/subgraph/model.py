import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.mean(-1, keepdim=True)
        tmp_1 = in_0.var(-1, keepdim=True, unbiased=False)
        tmp_2 = in_0 - tmp_0
        tmp_3 = tmp_1 + 1e-05
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_2 * tmp_4
        return (tmp_5,)
