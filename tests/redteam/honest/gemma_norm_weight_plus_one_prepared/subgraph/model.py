import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_1.float()
        tmp_1 = tmp_0.pow(2)
        tmp_2 = tmp_1.mean(-1, keepdim=True)
        tmp_3 = tmp_2 + 1e-06
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_0 * tmp_4
        tmp_6 = in_0.float()
        tmp_7 = 1.0 + tmp_6
        tmp_8 = tmp_5 * tmp_7
        tmp_9 = tmp_8.type_as(in_1)
        return (tmp_9,)
