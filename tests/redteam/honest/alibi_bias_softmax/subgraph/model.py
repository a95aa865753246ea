import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_2.unsqueeze(0)
        tmp_1 = in_2.unsqueeze(1)
        tmp_2 = tmp_0 - tmp_1
        tmp_3 = in_1.view(6, 1, 1)
        tmp_4 = tmp_3 * tmp_2
        tmp_5 = in_0 + tmp_4
        tmp_6 = torch.nn.functional.softmax(tmp_5, dim=-1)
        return (tmp_6,)
