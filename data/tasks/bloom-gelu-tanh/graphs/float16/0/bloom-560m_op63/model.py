import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * 0.5
        tmp_1 = 0.79788456 * in_0
        tmp_2 = 0.044715 * in_0
        tmp_3 = tmp_2 * in_0
        tmp_4 = 1 + tmp_3
        tmp_5 = tmp_1 * tmp_4
        tmp_6 = torch.tanh(tmp_5)
        tmp_7 = 1.0 + tmp_6
        tmp_8 = tmp_0 * tmp_7
        return (tmp_8,)
