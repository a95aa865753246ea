# Tries: the kernel lies in a helper module that is imported from the package pass_dir.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py

import torch
from pass_dir.shared_add import add_relu


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def replacement_func():
    return add_relu
