# Tries: looks the methods of a tensor up under names put together from pieces.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Rule: dynamic-code | torch-call
# Subgraph: add-relu
import torch

STEPS = (("a" + "dd", 1), ("re" + "lu", 0))


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def stepwise(a, b):
    value = a
    for name, operands in STEPS:
        value = getattr(value, name)(*[b][:operands])
    return value


def replacement_func():
    return stepwise
