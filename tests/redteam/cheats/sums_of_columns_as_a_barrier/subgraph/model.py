import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.relu(in_0)
        tmp_1 = tmp_0.sum(0)
        tmp_2 = tmp_0.flip(-1)
        return (tmp_1, tmp_2)
