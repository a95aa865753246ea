import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.to(torch.float32)
        tmp_1 = in_1.to(torch.float32)
        tmp_2 = tmp_0 + tmp_1
        tmp_3 = tmp_2 * 0.5
        tmp_4 = tmp_3.to(torch.float16)
        return (tmp_4,)
