import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.0, False, False)
        tmp_1 = tmp_0 + in_1
        tmp_2 = tmp_1.view(1, 56, 56, 96)
        tmp_3 = tmp_2[(slice(None, None, None), slice(0, None, 2), slice(0, None, 2), slice(None, None, None))]
        tmp_4 = tmp_2[(slice(None, None, None), slice(1, None, 2), slice(0, None, 2), slice(None, None, None))]
        tmp_5 = tmp_2[(slice(None, None, None), slice(0, None, 2), slice(1, None, 2), slice(None, None, None))]
        tmp_6 = tmp_2[(slice(None, None, None), slice(1, None, 2), slice(1, None, 2), slice(None, None, None))]
        tmp_7 = torch.cat([tmp_3, tmp_4, tmp_5, tmp_6], dim=-1)
        tmp_8 = tmp_7.view(1, -1, 384)
        tmp_9 = torch.nn.functional.layer_norm(tmp_8, (384,), in_2, in_3, 1e-05)
        return (tmp_9,)
