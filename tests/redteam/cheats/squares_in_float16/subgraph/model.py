import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_1.to(torch.float32)
        tmp_1 = tmp_0.pow(2)
        tmp_2 = tmp_1.mean(-1, keepdim = True)
        tmp_3 = tmp_2 + 1e-05
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_0 * tmp_4
        tmp_6 = tmp_5.to(torch.float16)
        tmp_7 = in_0 * tmp_6
        return (tmp_7,)
