"""ESM's exact GELU, five operations around erf, as one route of the shared activation kernel.

Eager launches five kernels, each of which reads and writes the whole tensor; one read and one write are enough.
"""

import torch
from pass_dir.activations import activate


def pattern(x):
    half = x * 0.5
    return half * (1.0 + torch.erf(x / 1.4142135623730951))


def replacement_args(x):
    return (x, "gelu by erf")


def replacement_func():
    return activate
