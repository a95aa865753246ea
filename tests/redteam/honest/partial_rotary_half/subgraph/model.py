import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0[(Ellipsis, slice(None, 16, None))]
        tmp_1 = in_0[(Ellipsis, slice(16, None, None))]
        tmp_2 = tmp_0 * in_1
        tmp_3 = tmp_0[(Ellipsis, slice(None, 8, None))]
        tmp_4 = tmp_0[(Ellipsis, slice(8, None, None))]
        tmp_5 = -tmp_4
        tmp_6 = torch.cat((tmp_5, tmp_3), dim=-1)
        tmp_7 = tmp_6 * in_2
        tmp_8 = tmp_2 + tmp_7
        tmp_9 = torch.cat((tmp_8, tmp_1), dim=-1)
        return (tmp_9,)
