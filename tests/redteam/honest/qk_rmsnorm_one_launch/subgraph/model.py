import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.to(torch.float32)
        tmp_1 = tmp_0.pow(2)
        tmp_2 = tmp_1.mean(-1, keepdim=True)
        tmp_3 = tmp_2 + 1e-06
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_0 * tmp_4
        tmp_6 = tmp_5.to(torch.bfloat16)
        tmp_7 = in_2 * tmp_6
        tmp_8 = in_1.to(torch.float32)
        tmp_9 = tmp_8.pow(2)
        tmp_10 = tmp_9.mean(-1, keepdim=True)
        tmp_11 = tmp_10 + 1e-06
        tmp_12 = torch.rsqrt(tmp_11)
        tmp_13 = tmp_8 * tmp_12
        tmp_14 = tmp_13.to(torch.bfloat16)
        tmp_15 = in_3 * tmp_14
        return (tmp_7, tmp_15)
