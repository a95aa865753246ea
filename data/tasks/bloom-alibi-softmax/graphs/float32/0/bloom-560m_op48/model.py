import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.view(1, 16, 128, -1)
        tmp_1 = tmp_0 + in_1
        tmp_2 = torch.nn.functional.softmax(tmp_1, dim=-1, dtype=torch.float32)
        tmp_3 = tmp_2.to(torch.float32)
        tmp_4 = torch.nn.functional.dropout(tmp_3, 0.0, False, False)
        tmp_5 = tmp_4.view(16, 128, -1)
        return (tmp_5,)
