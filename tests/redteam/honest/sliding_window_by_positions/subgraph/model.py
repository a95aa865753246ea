import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_1[(slice(None, None, None), None)]
        tmp_1 = in_2[(None, slice(None, None, None))]
        tmp_2 = tmp_0 - tmp_1
        tmp_3 = tmp_2 >= 0
        tmp_4 = tmp_2 < 8
        tmp_5 = tmp_3 & tmp_4
        tmp_6 = ~tmp_5
        tmp_7 = in_0.masked_fill(tmp_6, -65504.0)
        tmp_8 = torch.nn.functional.softmax(tmp_7, dim=-1, dtype=torch.float32)
        tmp_9 = tmp_8.to(torch.float16)
        return (tmp_9,)
