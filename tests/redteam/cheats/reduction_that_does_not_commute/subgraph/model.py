import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = in_0[(slice(None, None, None), 0)]
        tmp_1 = tmp_0 * 0.9
        tmp_2 = in_0[(slice(None, None, None), 1)]
        tmp_3 = tmp_1 + tmp_2
        tmp_4 = tmp_3 * 0.9
        tmp_5 = in_0[(slice(None, None, None), 2)]
        tmp_6 = tmp_4 + tmp_5
        tmp_7 = tmp_6 * 0.9
        tmp_8 = in_0[(slice(None, None, None), 3)]
        tmp_9 = tmp_7 + tmp_8
        tmp_10 = tmp_9 * 0.9
        tmp_11 = in_0[(slice(None, None, None), 4)]
        tmp_12 = tmp_10 + tmp_11
        tmp_13 = tmp_12 * 0.9
        tmp_14 = in_0[(slice(None, None, None), 5)]
        tmp_15 = tmp_13 + tmp_14
        tmp_16 = tmp_15 * 0.9
        tmp_17 = in_0[(slice(None, None, None), 6)]
        tmp_18 = tmp_16 + tmp_17
        tmp_19 = tmp_18 * 0.9
        tmp_20 = in_0[(slice(None, None, None), 7)]
        tmp_21 = tmp_19 + tmp_20
        return (tmp_21,)
