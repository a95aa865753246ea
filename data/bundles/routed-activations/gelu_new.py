"""GPT-2's GELU, eight operations with a cube by torch.pow, as one route of the shared activation kernel.

Eager launches eight kernels, each of which reads and writes the whole tensor; one read and one write are enough.
"""

import torch
from pass_dir.activations import activate


def pattern(x):
    half = 0.5 * x
    inner = 0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))
    return half * (1.0 + torch.tanh(inner))


def replacement_args(x):
    return (x, "gelu by tanh")


def replacement_func():
    return activate
