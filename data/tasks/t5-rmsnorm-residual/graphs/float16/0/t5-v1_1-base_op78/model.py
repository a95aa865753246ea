import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.1, False, False)
        tmp_1 = in_1 + tmp_0
        tmp_2 = torch.isinf(tmp_1)
        tmp_3 = tmp_2.any()
        tmp_4 = torch.where(tmp_3, 64504.0, 65504.0)
        tmp_5 = -tmp_4
        tmp_6 = torch.clamp(tmp_1, min=tmp_5, max=tmp_4)
        tmp_7 = tmp_6.to(torch.float32)
        tmp_8 = tmp_7.pow(2)
        tmp_9 = tmp_8.mean(-1, keepdim=True)
        tmp_10 = tmp_9 + 1e-06
        tmp_11 = torch.rsqrt(tmp_10)
        tmp_12 = tmp_6 * tmp_11
        tmp_13 = tmp_12.to(torch.float16)
        tmp_14 = in_2 * tmp_13
        return (tmp_6, tmp_14)
