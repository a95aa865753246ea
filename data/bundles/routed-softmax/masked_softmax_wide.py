"""Scale, mask, softmax in float32, back to the narrow type, idle dropout: how decoder models spell attention weights.

Eager launches five kernels, two of them on a float32 copy of the scores, the largest tensor of the layer. Here the
scores are read once and the weights written once; the mask is read where it lies, without being repeated per head.
"""

import torch
from pass_dir.softmax_rows import softmax_rows


def pattern(scores, mask, scale, narrow, p):
    weights = torch.nn.functional.softmax(scores * scale + mask, dim=-1, dtype=torch.float32)
    return torch.nn.functional.dropout(weights.to(dtype=narrow), p, False)


def replacement_args(scores, mask, scale, narrow, p):
    return (scores, scale, mask, None, narrow, "scaled, one added")


def replacement_func():
    return softmax_rows
