# Tries: calls what operators call.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Rule: torch-call | dynamic-code
# Subgraph: square
import torch


def pattern(a, b):
    return a.transpose(0, 1) - b


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def difference(a, b):
    return a.transpose(0, 1).__sub__(b)


def replacement_func():
    return difference
