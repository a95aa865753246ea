# Tries: the whole replacement is text, which is run when the file loads.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: add-relu
import torch

SOURCE = """
def fused(a, b):
    import torch
    return torch.relu(a + b)
"""
space = {}
exec(SOURCE, space)


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def fused(a, b):
    return space["fused"](a, b)


def replacement_func():
    return fused
