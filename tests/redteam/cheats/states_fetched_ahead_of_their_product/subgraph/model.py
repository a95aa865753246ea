import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = torch.matmul(in_0, in_1)
        tmp_1 = torch.relu(tmp_0)
        tmp_2 = torch.matmul(tmp_1, in_1)
        tmp_3 = torch.relu(tmp_2)
        tmp_4 = torch.matmul(tmp_3, in_1)
        tmp_5 = torch.relu(tmp_4)
        return (tmp_5,)
