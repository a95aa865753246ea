# Tries: getattr itself under another name, kept in a tuple.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule | library
# Rule: dynamic-code | torch-call
# Subgraph: add-relu
import torch

(take,) = (getattr,)


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def tool(name):
    return take(torch, name)


@torch.fx.wrap
def with_tools(a, b):
    return tool("relu")(tool("add")(a, b))


def replacement_func():
    return with_tools
