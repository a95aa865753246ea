# Tries: importlib, with the name of the module turned round.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: softmax-mask
from importlib import import_module

import torch

functional = import_module("lanoitcnuf.nn.hcrot"[::-1])


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@torch.fx.wrap
def softmax(scores, mask):
    return functional.softmax(scores + mask, -1)


def replacement_func():
    return softmax
