import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_1 * in_1
        tmp_1 = tmp_0 * in_1
        tmp_2 = tmp_1 * 0.044715
        tmp_3 = in_1 + tmp_2
        tmp_4 = tmp_3 * 0.7978845608028654
        tmp_5 = torch.tanh(tmp_4)
        tmp_6 = tmp_5 + 1.0
        tmp_7 = tmp_6 * 0.5
        tmp_8 = tmp_5 * tmp_5
        tmp_9 = 1.0 - tmp_8
        tmp_10 = in_1 * 0.5
        tmp_11 = tmp_10 * tmp_9
        tmp_12 = tmp_0 * 0.134145
        tmp_13 = tmp_12 + 1.0
        tmp_14 = tmp_13 * 0.7978845608028654
        tmp_15 = tmp_11 * tmp_14
        tmp_16 = tmp_7 + tmp_15
        tmp_17 = in_0 * tmp_16
        return (tmp_17,)
