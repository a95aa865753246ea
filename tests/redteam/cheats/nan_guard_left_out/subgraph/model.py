import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.isnan(in_0)
        tmp_1 = in_0.masked_fill(tmp_0, 0.0)
        tmp_2 = tmp_1 * in_1
        return (tmp_2,)
