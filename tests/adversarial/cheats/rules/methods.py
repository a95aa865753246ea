# Tries: methods of the tensors instead of functions of torch.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def chained(a, b):
    return a.add(b).relu()


def replacement_func():
    return chained
