import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.mean(dim=-1, keepdim=True)
        tmp_1 = in_0 - tmp_0
        tmp_2 = torch.nn.functional.normalize(tmp_1, dim=-1)
        return (tmp_2,)
