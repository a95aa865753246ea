import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.gelu(in_1, approximate='tanh')
        tmp_1 = tmp_0 * in_2
        tmp_2 = torch.nn.functional.linear(tmp_1, in_0)
        return (tmp_2,)
