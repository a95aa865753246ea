# Tries: functions as attributes of a class that looks like a collection of kernels.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: softmax-mask
import torch


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


class Kernels:
    add = staticmethod(torch.add)
    softmax = staticmethod(torch.softmax)


@torch.fx.wrap
def softmax(scores, mask):
    return Kernels.softmax(Kernels.add(scores, mask), -1)


def replacement_func():
    return softmax
