import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 == -100
        tmp_1 = in_0.masked_fill(tmp_0, 1)
        tmp_2 = torch.nn.functional.embedding(tmp_1, in_1)
        return (tmp_2,)
