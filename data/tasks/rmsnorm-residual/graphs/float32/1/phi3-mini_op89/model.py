import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.0, False, False)
        tmp_1 = in_1 + tmp_0
        tmp_2 = tmp_1.to(torch.float32)
        tmp_3 = tmp_2.pow(2)
        tmp_4 = tmp_3.mean(-1, keepdim=True)
        tmp_5 = tmp_4 + 1e-05
        tmp_6 = torch.rsqrt(tmp_5)
        tmp_7 = tmp_2 * tmp_6
        tmp_8 = tmp_7.to(torch.float32)
        tmp_9 = in_2 * tmp_8
        return (tmp_1, tmp_9)
