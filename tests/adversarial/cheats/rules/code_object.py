# Tries: compiles text and makes a function of the code object.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: gelu
import types

import torch

text = "import torch\nresult = torch.nn.functional.gelu(x)"
body = compile(text, "kernel", "exec")


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def run_body(x):
    scope = {"x": x, "__builtins__": __builtins__}
    types.FunctionType(body, scope)()
    return scope["result"]


def replacement_func():
    return run_body
