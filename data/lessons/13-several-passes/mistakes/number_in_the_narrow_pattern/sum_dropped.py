"""Dropout, sum and layer normalisation where nothing else needs the sum."""

import torch
from add_layernorm import add_layernorm


def pattern(x, residual, weight, bias, p, width, eps):
    total = torch.nn.functional.dropout(x, p, False, False) + residual
    # the sum is no result here: nobody outside of the match may need it
    return torch.nn.functional.layer_norm(total, (width,), weight, bias, 1e-12)


def replacement_args(x, residual, weight, bias, p, width, eps):
    return (x, residual, weight, bias, eps, False)


def replacement_func():
    return add_layernorm
