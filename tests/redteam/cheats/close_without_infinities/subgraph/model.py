import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.isclose(in_0, in_1, rtol=0.001, atol=1e-05)
        return (tmp_0,)
