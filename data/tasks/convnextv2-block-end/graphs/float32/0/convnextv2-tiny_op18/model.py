import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.permute(0, 3, 1, 2)
        tmp_1 = in_1 + tmp_0
        tmp_2 = tmp_1.permute(0, 2, 3, 1)
        tmp_3 = torch.nn.functional.layer_norm(tmp_2, (96,), in_2, in_3, 1e-06)
        tmp_4 = tmp_3.permute(0, 3, 1, 2)
        return (tmp_4,)
