"""Dropout, sum and layer normalisation where the sum is needed later as well."""

import torch
from add_layernorm import add_layernorm


def pattern(x, residual, weight, bias, p, width, eps):
    total = torch.nn.functional.dropout(x, p, False, False) + residual
    return torch.nn.functional.layer_norm(total, (width,), weight, bias, eps)


def replacement_args(x, residual, weight, bias, p, width, eps):
    return (x, residual, weight, bias, eps, False)


def replacement_func():
    return add_layernorm
