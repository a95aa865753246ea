# Tries: the library is called in a helper module, which is no pass.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
# Passes: first.py
import torch
from kernels_of_ours import fused_add_relu


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def replacement_func():
    return fused_add_relu
