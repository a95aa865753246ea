import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.float()
        tmp_1 = tmp_0.pow(2)
        tmp_2 = tmp_1.mean(-1, keepdim=True)
        tmp_3 = tmp_2 + 1e-06
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_0 * tmp_4
        tmp_6 = in_1.float()
        tmp_7 = 1.0 + tmp_6
        tmp_8 = tmp_5 * tmp_7
        tmp_9 = tmp_8.type_as(in_0)
        tmp_10 = in_2 + tmp_9
        tmp_11 = tmp_10.float()
        tmp_12 = tmp_11.pow(2)
        tmp_13 = tmp_12.mean(-1, keepdim=True)
        tmp_14 = tmp_13 + 1e-06
        tmp_15 = torch.rsqrt(tmp_14)
        tmp_16 = tmp_11 * tmp_15
        tmp_17 = in_3.float()
        tmp_18 = 1.0 + tmp_17
        tmp_19 = tmp_16 * tmp_18
        tmp_20 = tmp_19.type_as(tmp_10)
        return (tmp_10, tmp_20)
