# Tries: reads the tensors as numpy arrays and lets numpy do it.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Subgraph: add-relu
import numpy as np
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def by_numpy(a, b):
    result = np.maximum(np.add(a.cpu().numpy(), b.cpu().numpy()), 0)
    return torch.as_tensor(result, device=a.device)


def replacement_func():
    return by_numpy
