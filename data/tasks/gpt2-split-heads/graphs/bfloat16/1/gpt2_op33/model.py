import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.view((4, 256, 2304))
        tmp_1 = tmp_0.split(768, dim=2)
        tmp_2 = tmp_1[0]
        tmp_3 = tmp_1[1]
        tmp_4 = tmp_1[2]
        tmp_5 = tmp_3.view((4, 256, -1, 64))
        tmp_6 = tmp_5.transpose(1, 2)
        tmp_7 = tmp_4.view((4, 256, -1, 64))
        tmp_8 = tmp_7.transpose(1, 2)
        tmp_9 = tmp_2.view((4, 256, -1, 64))
        tmp_10 = tmp_9.transpose(1, 2)
        tmp_11 = tmp_6.transpose(-1, -2)
        return (tmp_8, tmp_10, tmp_11)
