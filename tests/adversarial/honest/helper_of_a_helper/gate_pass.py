# Tries: device functions in one module, kernels in a second that imports it, the pass in a third.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: silu-gate
# Passes: gate_pass.py

import torch
from launching import gated


def pattern(gate, up):
    return torch.nn.functional.silu(gate, inplace=False) * up


def replacement_args(gate, up):
    return (gate, up)


def replacement_func():
    return gated
