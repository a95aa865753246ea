import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.chunk(2, dim=-1)
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        tmp_3 = torch.tanh(tmp_2)
        tmp_4 = tmp_1 * tmp_3
        return (tmp_4,)
