"""Batch normalisation with fixed statistics, added in place to the residual, and relu, in one kernel.

Eager launches three kernels and moves the images through memory seven times; here it is four. The residual takes the
sum, as the graph's in-place addition says.
"""

import torch
from planes import batchnorm_add_relu


def pattern(x, residual, mean, variance, weight, bias, momentum, eps):
    residual += torch.nn.functional.batch_norm(x, mean, variance, weight, bias, False, momentum, eps)
    return torch.nn.functional.relu(residual, inplace=False)


def replacement_args(x, residual, mean, variance, weight, bias, momentum, eps):
    return (x, residual, mean, variance, weight, bias, eps)


def replacement_func():
    return batchnorm_add_relu
