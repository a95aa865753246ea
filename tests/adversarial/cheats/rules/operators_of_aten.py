# Tries: the operators below torch's functions.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch

aten = torch.ops.aten


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def below(a, b):
    return aten.relu.default(aten.add.Tensor(a, b))


def replacement_func():
    return below
