import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.0, False, False)
        tmp_1 = tmp_0 + in_1
        tmp_2 = torch.nn.functional.layer_norm(tmp_1, (96,), in_2, in_3, 1e-05)
        tmp_3 = tmp_2.view(1, 56, 56, 96)
        tmp_4 = torch._C._nn.pad(tmp_3, (0, 0, 0, 0, 0, 0), 'constant', None)
        tmp_5 = torch.roll(tmp_4, shifts=(-3, -3), dims=(1, 2))
        tmp_6 = tmp_5.view(1, 8, 7, 8, 7, 96)
        tmp_7 = tmp_6.transpose(2, 3)
        tmp_8 = tmp_7.contiguous()
        tmp_9 = tmp_8.view(-1, 7, 7, 96)
        tmp_10 = tmp_9.view(-1, 49, 96)
        return (tmp_1, tmp_10)
