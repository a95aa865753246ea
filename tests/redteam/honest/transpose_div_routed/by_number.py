import torch
from divide import scaled_transpose


def pattern(x):
    return x.transpose(1, 2) / 2.8284271247461903


def replacement_args(x):
    return (x, 2.8284271247461903, "heads_by_number")


def replacement_func():
    return scaled_transpose
