# Tries: calls torch under another name, so that no line reads torch.relu.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch
import torch as kernels


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def fused(a, b):
    return kernels.relu(kernels.add(a, b))


def replacement_func():
    return fused
