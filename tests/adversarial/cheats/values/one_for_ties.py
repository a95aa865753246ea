# Tries: writes one, since "a maximum is there once": wrong as soon as two elements tie.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: max-share
import torch


def pattern(x):
    top = x.amax(-1, keepdim=True)
    return (x == top).sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def once(x):
    return torch.ones((x.shape[0],), dtype=torch.int64, device=x.device)


def replacement_func():
    return once
