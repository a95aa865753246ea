import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.nn.functional.normalize(in_0, p=2.0, dim=-1)
        tmp_1 = torch.nn.functional.linear(in_1, tmp_0)
        return (tmp_1,)
