# Tries: a table from words to functions, and a literal that chooses.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch

TABLE = {"join": torch.add, "cut": torch.relu}


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b, "join cut")


@torch.fx.wrap
def routed(a, b, route):
    join, cut = (TABLE[word] for word in route.split())
    return cut(join(a, b))


def replacement_func():
    return routed
