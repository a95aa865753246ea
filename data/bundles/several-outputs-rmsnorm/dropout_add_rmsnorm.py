"""As add_rmsnorm, with the dropout that does nothing outside of training: two results of one kernel.

It comes first in the order, so that the idle dropout disappears as well where there is one.
"""

import torch
from residual_norm import residual_rmsnorm


def pattern(residual, x, weight, p, eps, narrow):
    total = residual + torch.nn.functional.dropout(x, p, False, False)
    wide = total.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return total, weight * (wide * scale).to(dtype=narrow)


def replacement_args(residual, x, weight, p, eps, narrow):
    return (residual, x, weight, eps, narrow)


def replacement_func():
    return residual_rmsnorm
