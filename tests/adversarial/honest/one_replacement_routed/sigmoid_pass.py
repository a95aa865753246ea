import torch
from activations import activate


def pattern(x):
    return torch.sigmoid(x)


def replacement_args(x):
    return (x, "sigmoid")


def replacement_func():
    return activate
