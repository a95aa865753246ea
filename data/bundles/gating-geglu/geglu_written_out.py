"""T5's gate, where GELU is written out in eight operations, with the product and the idle dropout, in one kernel.

Eager launches nine kernels (dropout does nothing outside of training); all but the first read what was just written.
Here gate and partner are read once and the product is written once.
"""

import torch
from gate import geglu


def pattern(gate, up, p):
    half = 0.5 * gate
    inner = 0.7978845608028654 * (gate + 0.044715 * torch.pow(gate, 3.0))
    opened = half * (1.0 + torch.tanh(inner))
    return torch.nn.functional.dropout(opened * up, p, False)


def replacement_args(gate, up, p):
    return (gate, up, True)


def replacement_func():
    return geglu
