import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.transpose(1, 2)
        tmp_1 = tmp_0.contiguous()
        tmp_2 = tmp_1.reshape(1, 128, -1)
        tmp_3 = tmp_2.contiguous()
        return (tmp_3,)
