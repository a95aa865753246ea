import torch
from fused_kernels import bias_gelu_residual


def pattern(hidden, bias, residual):
    activated = torch.nn.functional.gelu(hidden + bias)
    return activated + residual


def replacement_args(hidden, bias, residual):
    return (hidden, bias, residual)


def replacement_func():
    return bias_gelu_residual
