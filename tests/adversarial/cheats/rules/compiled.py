# Tries: lets Inductor write the kernel.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: two-outputs
import torch


def pattern(a, b):
    s = a + b
    return s, s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-06)


def replacement_args(a, b):
    return (a, b)


def plain(a, b):
    s = a + b
    return s, s * ((s * s).mean(-1, keepdim=True) + 1e-6) ** -0.5


quick = torch.compile(plain)


@torch.fx.wrap
def add_rms(a, b):
    return quick(a, b)


def replacement_func():
    return add_rms
