import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0.flatten(2)
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = in_1.expand(4, -1, -1)
        tmp_3 = torch.cat((tmp_2, tmp_1), dim=1)
        tmp_4 = tmp_3 + in_2
        tmp_5 = torch.nn.functional.dropout(tmp_4, 0.0, False, False)
        tmp_6 = torch.nn.functional.layer_norm(tmp_5, (768,), in_3, in_4, 1e-12)
        return (tmp_5, tmp_6)
