import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.nn.functional.pad(in_0, (0, 0, 0, 1, 0, 1))
        tmp_1 = torch.roll(tmp_0, shifts=(-3, -3), dims=(1, 2))
        tmp_2 = tmp_1.view(2, 2, 7, 2, 7, 24)
        tmp_3 = tmp_2.permute(0, 1, 3, 2, 4, 5)
        tmp_4 = tmp_3.contiguous()
        tmp_5 = tmp_4.view(-1, 49, 24)
        return (tmp_5,)
