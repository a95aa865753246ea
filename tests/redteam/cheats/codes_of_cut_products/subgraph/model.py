import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0 * 37.3
        tmp_1 = torch.round(tmp_0)
        tmp_2 = torch.clamp(tmp_1, -128, 127)
        tmp_3 = tmp_2.to(torch.int8)
        return (tmp_3,)
