import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0 * 0.08838834764831845
        tmp_2 = tmp_1.float()
        return (tmp_2,)
