import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_1 + in_0
        tmp_1 = tmp_0.view(2, 12, 3, 4, 16)
        tmp_2 = tmp_1.permute(2, 0, 3, 1, 4)
        tmp_3 = tmp_2.unbind(0)
        tmp_4 = tmp_3[0]
        tmp_5 = tmp_3[1]
        tmp_6 = tmp_3[2]
        tmp_7 = tmp_4 * 0.25
        return (tmp_7, tmp_5, tmp_6)
