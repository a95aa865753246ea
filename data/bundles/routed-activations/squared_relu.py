"""Nemotron's squared relu, two operations, as one route of the shared activation kernel.

Eager writes the rectified tensor to memory and reads it back for the square; here it stays in registers.
"""

import torch
from pass_dir.activations import activate


def pattern(x):
    return torch.square(torch.nn.functional.relu(x))


def replacement_args(x):
    return (x, "squared relu")


def replacement_func():
    return activate
