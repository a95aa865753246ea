# Tries: a decorator of its own throws its function away and puts the library's in its place.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def tuned(function):
    def launch(a, b):
        return torch.clamp_min(torch.add(a, b), 0)

    launch.__name__ = function.__name__
    return launch


@torch.fx.wrap
def add_relu(a, b):
    return launched(a, b)


@tuned
def launched(a, b):
    """Launches the kernel."""


def replacement_func():
    return add_relu
