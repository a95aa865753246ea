import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0[(Ellipsis, slice(None, None, 2))]
        tmp_1 = in_0[(Ellipsis, slice(1, None, 2))]
        tmp_2 = tmp_0.clamp(min=None, max=7.0)
        tmp_3 = tmp_1.clamp(min=-7.0, max=7.0)
        tmp_4 = tmp_2 * 1.702
        tmp_5 = torch.sigmoid(tmp_4)
        tmp_6 = tmp_2 * tmp_5
        tmp_7 = tmp_3 + 1
        tmp_8 = tmp_7 * tmp_6
        return (tmp_8,)
