"""Idle dropout, residual sum and layer normalisation where the sum goes on through the model: one kernel.

Eager launches a kernel for the sum and one for the normalisation, which reads the sum back from memory. Here it is
normalised while it is still in registers.
"""

import torch
from residual_norm import residual_layernorm


def pattern(x, residual, weight, bias, p, width, eps):
    total = torch.nn.functional.dropout(x, p, False, False) + residual
    return total, torch.nn.functional.layer_norm(total, (width,), weight, bias, eps)


def replacement_args(x, residual, weight, bias, p, width, eps):
    return (x, residual, weight, bias, eps, True)


def replacement_func():
    return residual_layernorm
