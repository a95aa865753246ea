import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * 0.5
        tmp_1 = torch.pow(in_0, 3.0)
        tmp_2 = tmp_1 * 0.044715
        tmp_3 = in_0 + tmp_2
        tmp_4 = tmp_3 * 0.7978845608028654
        tmp_5 = torch.tanh(tmp_4)
        tmp_6 = tmp_5 + 1.0
        tmp_7 = tmp_0 * tmp_6
        return (tmp_7,)
