import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_1 + in_0
        tmp_1 = torch.nn.functional.gelu(tmp_0)
        tmp_2 = tmp_1 + in_2
        return (tmp_2,)
