import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 * in_1
        tmp_1 = torch.nn.functional.relu(tmp_0)
        return (tmp_1,)
