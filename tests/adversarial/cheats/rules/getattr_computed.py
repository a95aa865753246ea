# Tries: getattr with a name that only exists when it runs.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: add-relu
import torch

WORDS = "softmax relu6 relu dropout".split()


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def chosen(a, b):
    return getattr(torch, WORDS[2])(getattr(torch, "".join(["a", "d", "d"]))(a, b))


def replacement_func():
    return chosen
