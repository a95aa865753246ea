"""Batch normalisation with fixed statistics, which is a scale and a bias per channel, and relu, in one kernel.

Eager writes the normalised images and reads them back for relu. Here they are read once and written once.
"""

import torch
from planes import batchnorm_relu


def pattern(x, mean, variance, weight, bias, momentum, eps):
    y = torch.nn.functional.batch_norm(x, mean, variance, weight, bias, False, momentum, eps)
    return torch.nn.functional.relu(y, inplace=False)


def replacement_args(x, mean, variance, weight, bias, momentum, eps):
    return (x, mean, variance, weight, bias, eps)


def replacement_func():
    return batchnorm_relu
