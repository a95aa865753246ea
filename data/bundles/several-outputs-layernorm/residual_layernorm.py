"""Idle dropout, residual sum and layer normalisation where nobody needs the sum: one kernel, one result.

Eager writes the sum and reads it back. It comes first in the order: where the sum is used elsewhere this pattern is
refused, and residual_layernorm_kept takes over.
"""

import torch
from residual_norm import residual_layernorm


def pattern(x, residual, weight, bias, p, width, eps):
    total = torch.nn.functional.dropout(x, p, False, False) + residual
    return torch.nn.functional.layer_norm(total, (width,), weight, bias, eps)


def replacement_args(x, residual, weight, bias, p, width, eps):
    return (x, residual, weight, bias, eps, False)


def replacement_func():
    return residual_layernorm
