import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.view((1, 128, -1, 128))
        tmp_1 = tmp_0.to(torch.float32)
        tmp_2 = tmp_1.pow(2)
        tmp_3 = tmp_2.mean(-1, keepdim=True)
        tmp_4 = tmp_3 + 1e-06
        tmp_5 = torch.rsqrt(tmp_4)
        tmp_6 = tmp_1 * tmp_5
        tmp_7 = tmp_6.to(torch.float16)
        tmp_8 = in_1 * tmp_7
        tmp_9 = tmp_8.transpose(1, 2)
        tmp_10 = tmp_9 * in_2
        tmp_11 = tmp_9[(Ellipsis, slice(None, 64, None))]
        tmp_12 = tmp_9[(Ellipsis, slice(64, None, None))]
        tmp_13 = -tmp_12
        tmp_14 = torch.cat((tmp_13, tmp_11), dim=-1)
        tmp_15 = tmp_14 * in_3
        tmp_16 = tmp_10 + tmp_15
        return (tmp_16,)
