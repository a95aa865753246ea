import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0[..., ::2]
        tmp_1 = in_0[..., 1::2]
        tmp_2 = -tmp_1
        tmp_3 = torch.stack((tmp_2, tmp_0), dim=-1)
        tmp_4 = tmp_3.flatten(-2)
        tmp_5 = in_0 * in_1
        tmp_6 = tmp_4 * in_2
        tmp_7 = tmp_5 + tmp_6
        return (tmp_7,)
