import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0.abs()
        tmp_1 = tmp_0.mean()
        tmp_2 = tmp_1.clamp(min=1e-05)
        tmp_3 = in_0 / tmp_2
        tmp_4 = tmp_3.round()
        tmp_5 = tmp_4.clamp(-1, 1)
        tmp_6 = tmp_5 * tmp_2
        return (tmp_6,)
