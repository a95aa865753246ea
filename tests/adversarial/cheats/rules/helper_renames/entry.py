# Tries: a helper gives the library's functions new names, another module calls them by these.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: softmax-mask
# Passes: entry.py
import torch
from pass_dir import names


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@torch.fx.wrap
def normalised(scores, mask):
    return names.spread(names.shift(scores, mask), -1)


def replacement_func():
    return normalised
