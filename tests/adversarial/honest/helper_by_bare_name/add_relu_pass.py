# Tries: the kernel lies in a helper module beside the pass, imported by its bare name.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py

import torch
from shared_add import add_relu


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def replacement_func():
    return add_relu
