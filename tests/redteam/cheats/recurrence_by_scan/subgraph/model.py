import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_x0 = in_0[(slice(None, None, None), 0)]
        tmp_x1 = in_0[(slice(None, None, None), 1)]
        tmp_x2 = in_0[(slice(None, None, None), 2)]
        tmp_x3 = in_0[(slice(None, None, None), 3)]
        tmp_x4 = in_0[(slice(None, None, None), 4)]
        tmp_x5 = in_0[(slice(None, None, None), 5)]
        tmp_x6 = in_0[(slice(None, None, None), 6)]
        tmp_x7 = in_0[(slice(None, None, None), 7)]
        tmp_y1 = tmp_x0 * 0.9
        tmp_z1 = tmp_y1 + tmp_x1
        tmp_y2 = tmp_z1 * 0.9
        tmp_z2 = tmp_y2 + tmp_x2
        tmp_y3 = tmp_z2 * 0.9
        tmp_z3 = tmp_y3 + tmp_x3
        tmp_y4 = tmp_z3 * 0.9
        tmp_z4 = tmp_y4 + tmp_x4
        tmp_y5 = tmp_z4 * 0.9
        tmp_z5 = tmp_y5 + tmp_x5
        tmp_y6 = tmp_z5 * 0.9
        tmp_z6 = tmp_y6 + tmp_x6
        tmp_y7 = tmp_z6 * 0.9
        tmp_z7 = tmp_y7 + tmp_x7
        tmp_s = torch.stack([tmp_x0, tmp_z1, tmp_z2, tmp_z3, tmp_z4, tmp_z5, tmp_z6, tmp_z7], dim = 1)
        return (tmp_s,)
