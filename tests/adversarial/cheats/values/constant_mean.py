# Tries: fills with the mean that a softmax over so many columns must have.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: softmax-mask
import torch


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores,)


@torch.fx.wrap
def evenly(scores):
    return torch.full_like(scores, 1.0 / scores.shape[-1])


def replacement_func():
    return evenly
