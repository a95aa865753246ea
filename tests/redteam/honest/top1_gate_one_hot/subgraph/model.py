import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = torch.nn.functional.softmax(in_0, dim=-1)
        tmp_1 = in_0.argmax(dim=-1)
        tmp_2 = torch.nn.functional.one_hot(tmp_1, num_classes=9)
        tmp_3 = tmp_0 * tmp_2
        tmp_4 = tmp_3.sum(dim=-1)
        return (tmp_1, tmp_2, tmp_4)
