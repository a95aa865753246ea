"""Scale, mask, softmax in the tensor's own type, idle dropout: how BERT spells attention weights.

Eager launches three kernels and reads and writes the scores in each. Its softmax computes in float32 and rounds at the
end, which is what the float32 spelling does as well: the same route of the same kernel serves both.
"""

import torch
from pass_dir.softmax_rows import softmax_rows


def pattern(scores, mask, scale, p):
    weights = torch.nn.functional.softmax(scores * scale + mask, dim=-1)
    return torch.nn.functional.dropout(weights, p, False)


def replacement_args(scores, mask, scale, p):
    return (scores, scale, mask, None, None, "scaled, one added")


def replacement_func():
    return softmax_rows
