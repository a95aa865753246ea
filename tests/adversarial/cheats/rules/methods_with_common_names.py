# Tries: only methods whose names other objects have as well, so that no rule can forbid them.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: softmax-mask
import torch


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@torch.fx.wrap
def by_methods(scores, mask):
    moved = scores.add(mask)
    moved = moved.sub(moved.max(-1, True)[0])
    powers = moved.exp()
    return powers.div(powers.sum(-1, True))


def replacement_func():
    return by_methods
