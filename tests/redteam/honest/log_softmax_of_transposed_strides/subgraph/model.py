import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.transpose(1, 2)
        tmp_1 = torch.nn.functional.log_softmax(tmp_0, dim=-1)
        return (tmp_1,)
