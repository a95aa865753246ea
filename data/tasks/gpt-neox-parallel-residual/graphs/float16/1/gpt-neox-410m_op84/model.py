import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.0, False, False)
        tmp_1 = tmp_0 + in_1
        tmp_2 = tmp_1 + in_2
        tmp_3 = torch.nn.functional.layer_norm(tmp_2, (1024,), in_3, in_4, 1e-05)
        return (tmp_3,)
