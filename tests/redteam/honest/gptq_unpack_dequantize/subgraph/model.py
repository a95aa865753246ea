import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.unsqueeze(1)
        tmp_1 = in_1.view(1, 8, 1)
        tmp_2 = torch.bitwise_right_shift(tmp_0, tmp_1)
        tmp_3 = torch.bitwise_and(tmp_2, 15)
        tmp_4 = tmp_3.reshape(72, 20)
        tmp_5 = tmp_4.to(torch.float16)
        tmp_6 = tmp_5 - in_2
        tmp_7 = tmp_6 * in_3
        return (tmp_7,)
