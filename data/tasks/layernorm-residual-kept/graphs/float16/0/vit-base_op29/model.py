import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.0, False, False)
        tmp_1 = tmp_0 + in_1
        tmp_2 = torch.nn.functional.layer_norm(tmp_1, (768,), in_2, in_3, 1e-12)
        return (tmp_1, tmp_2)
