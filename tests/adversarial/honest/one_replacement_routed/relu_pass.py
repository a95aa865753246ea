# Tries: two passes share one replacement function, which is told by a string what to compute.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: two-activations
# Passes: relu_pass.py, sigmoid_pass.py

import torch
from activations import activate


def pattern(x):
    return torch.nn.functional.relu(x, inplace=False)


def replacement_args(x):
    return (x, "relu")


def replacement_func():
    return activate
