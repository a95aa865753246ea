# Tries: a decorator turns plain tensor code into TorchScript.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: leaky
import torch


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@torch.jit.script
def scripted(x):
    return x.clamp(min=0.0) + 0.2 * x.clamp(max=0.0)


@torch.fx.wrap
def leaky(x):
    return scripted(x)


def replacement_func():
    return leaky
