import torch
from kernels import layer_norm_rows, matmul_bias_residual


def pattern(x, w, b, residual, gamma, beta, p, shape, eps):
    h = torch.nn.functional.dropout(torch.nn.functional.linear(x, w, b), p=p, training=False)
    s = residual + h
    return s, torch.nn.functional.layer_norm(s, shape, gamma, beta, eps)


def replacement_args(x, w, b, residual, gamma, beta, p, shape, eps):
    return (x, w, b, residual, gamma, beta, eps)


@torch.fx.wrap
def linear_residual_norm(x, w, b, residual, gamma, beta, eps):
    s = matmul_bias_residual(x, w, b, residual)
    return s, layer_norm_rows(s, gamma, beta, eps)


def replacement_func():
    return linear_residual_norm
