import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.view((4, 256, -1, 128))
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = tmp_1.float()
        tmp_3 = tmp_2 * in_1
        tmp_4 = tmp_2[(Ellipsis, slice(None, None, 2))]
        tmp_5 = tmp_2[(Ellipsis, slice(1, None, 2))]
        tmp_6 = -tmp_5
        tmp_7 = torch.stack([tmp_6, tmp_4], dim=-1)
        tmp_8 = tmp_7.flatten(-2)
        tmp_9 = tmp_8 * in_2
        tmp_10 = tmp_3 + tmp_9
        tmp_11 = tmp_10.to(dtype=torch.float16)
        return (tmp_11,)
