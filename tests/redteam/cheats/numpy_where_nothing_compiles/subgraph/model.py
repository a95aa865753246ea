import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        sort = torch.sort(in_0, -1)
        tmp_0 = sort[0]
        return (tmp_0,)
