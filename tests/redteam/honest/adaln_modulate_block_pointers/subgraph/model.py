import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.layer_norm(in_0, (40,), None, None, 1e-06)
        tmp_1 = in_2.unsqueeze(1)
        tmp_2 = 1 + tmp_1
        tmp_3 = tmp_0 * tmp_2
        tmp_4 = in_1.unsqueeze(1)
        tmp_5 = tmp_3 + tmp_4
        return (tmp_5,)
