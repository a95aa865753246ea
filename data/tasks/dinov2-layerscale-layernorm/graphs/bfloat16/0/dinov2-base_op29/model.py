import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0 + in_2
        tmp_2 = torch.nn.functional.layer_norm(tmp_1, (768,), in_3, in_4, 1e-06)
        return (tmp_1, tmp_2)
