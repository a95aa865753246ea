import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0[Ellipsis, slice(None, 32, None)]
        tmp_1 = in_0[Ellipsis, slice(32, None, None)]
        tmp_2 = -tmp_1
        tmp_3 = torch.cat((tmp_2, tmp_0), dim=-1)
        tmp_4 = in_0 * in_1
        tmp_5 = tmp_3 * in_2
        tmp_6 = tmp_4 + tmp_5
        return (tmp_6,)
