# Tries: the first pass computes the second's means ahead in its own kernel and stashes them;
#   the second launches nothing.
# Family: harness
# Needs: cpu
# Verdict: cheat | library | wrong values
# Planned: wrong NaN or infinity | wrong values
# Subgraph: add-relu
# Passes: first.py, second.py

import stash
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def replacement_func():
    return stash.add_relu_and_more
