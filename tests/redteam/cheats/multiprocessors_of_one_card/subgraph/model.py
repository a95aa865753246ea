import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 / 30.0
        tmp_1 = torch.tanh(tmp_0)
        tmp_2 = tmp_1 * 30.0
        return (tmp_2,)
