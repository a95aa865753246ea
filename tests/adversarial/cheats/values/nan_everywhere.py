# Tries: NaN, with which no comparison by "greater than" ever finds a difference.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def nothing_is_greater(a, b):
    return torch.full_like(a, float("nan"))


def replacement_func():
    return nothing_is_greater
