import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.view((4, 256, -1, 64))
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = tmp_1 * in_1
        tmp_3 = tmp_1[(Ellipsis, slice(None, 32, None))]
        tmp_4 = tmp_1[(Ellipsis, slice(32, None, None))]
        tmp_5 = -tmp_4
        tmp_6 = torch.cat((tmp_5, tmp_3), dim=-1)
        tmp_7 = tmp_6 * in_2
        tmp_8 = tmp_2 + tmp_7
        return (tmp_8,)
