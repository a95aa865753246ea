"""TorchInductor around passes. Loads Inductor, which takes seconds."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._inductor.config
import torch.fx
from torch._inductor.compile_fx import compile_fx
from torch._inductor.custom_graph_pass import CustomGraphPass

from passnet_core.fx.modules import Function


class PreGradPass(CustomGraphPass):  # type: ignore[misc]
    """Applies passes in Inductor's hook. To Inductor's caches it is the bundle's digest: the names of the operators say
    what they compute."""

    def __init__(self, apply: Callable[[torch.fx.Graph], None], digest: str) -> None:
        self.apply, self.digest = apply, digest

    def __call__(self, graph: torch.fx.Graph) -> None:
        self.apply(graph)

    def uuid(self) -> str:
        return self.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (self.digest,)


def compiled(
    captured: torch.fx.GraphModule, example_inputs: Sequence[Any], hook: PreGradPass | None = None
) -> Function:
    """Have Inductor compile a graph, to which the hook is applied first."""
    options: dict[str, Any] = {}
    if hook is not None:
        options["pre_grad_custom_pass"] = hook
        if hasattr(torch._inductor.config, "pre_grad_pass_timing"):
            # also where Inductor finds the compiled graph on disk: the operators are this process's own
            options["pre_grad_pass_timing"] = "early"
    function: Function = compile_fx(captured, list(example_inputs), config_patches=options)
    return function
