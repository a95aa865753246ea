import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.view((4, 256, -1, 192))
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = tmp_1.chunk(3, dim=-1)
        tmp_3 = tmp_2[0]
        tmp_4 = tmp_2[1]
        tmp_5 = tmp_2[2]
        tmp_6 = tmp_3[(Ellipsis, slice(None, 16, None))]
        tmp_7 = tmp_3[(Ellipsis, slice(16, None, None))]
        tmp_8 = tmp_4[(Ellipsis, slice(None, 16, None))]
        tmp_9 = tmp_4[(Ellipsis, slice(16, None, None))]
        tmp_10 = tmp_6 * in_1
        tmp_11 = tmp_6[(Ellipsis, slice(None, 8, None))]
        tmp_12 = tmp_6[(Ellipsis, slice(8, None, None))]
        tmp_13 = -tmp_12
        tmp_14 = torch.cat((tmp_13, tmp_11), dim=-1)
        tmp_15 = tmp_14 * in_2
        tmp_16 = tmp_10 + tmp_15
        tmp_17 = tmp_8 * in_1
        tmp_18 = tmp_8[(Ellipsis, slice(None, 8, None))]
        tmp_19 = tmp_8[(Ellipsis, slice(8, None, None))]
        tmp_20 = -tmp_19
        tmp_21 = torch.cat((tmp_20, tmp_18), dim=-1)
        tmp_22 = tmp_21 * in_2
        tmp_23 = tmp_17 + tmp_22
        tmp_24 = torch.cat([tmp_16, tmp_7], dim=-1)
        tmp_25 = torch.cat([tmp_23, tmp_9], dim=-1)
        tmp_26 = tmp_25.transpose(2, 3)
        return (tmp_5, tmp_24, tmp_26)
