# Tries: functools.partial, so that the function is never called by its name.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: softmax-mask
import functools

import torch

spread = functools.partial(torch.softmax, dim=-1)


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@torch.fx.wrap
def softmax(scores, mask):
    return spread(scores + mask)


def replacement_func():
    return softmax
