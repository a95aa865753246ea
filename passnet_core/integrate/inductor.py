"""TorchInductor around passes. Loads Inductor, which takes seconds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch._inductor.config
import torch.fx
import torch.utils._pytree as pytree
from torch._inductor import ir
from torch._inductor.compile_fx import compile_fx
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.lowering import register_lowering
from torch._inductor.virtualized import V

from passnet_core.fx.modules import Function


class DirectCall(ir.FallbackKernel):  # type: ignore[misc]
    """A call of an operator that generated code makes without torch's dispatcher, which would cost 2 µs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name, self.imported = _direct[self.op_overload]
        # generated C++ finds operators by their own names
        if not V.graph.cpp_wrapper:
            self.python_kernel_name = name

    def codegen(self, wrapper: Any) -> None:
        wrapper.add_import_once(self.imported)
        super().codegen(wrapper)


_direct: dict[Any, tuple[str, str]] = {}


def call_directly(operator: Any, name: str, imported: str) -> None:
    """Have generated code call this expression instead of the operator. imported: a line that it needs first."""
    _direct[operator] = name, imported

    def lowered(*args: Any) -> Any:
        return pytree.tree_map_only(ir.IRNode, _wrapped, DirectCall.create(operator, *args))

    register_lowering(operator, type_promotion_kind=None)(lowered)


def _wrapped(result: Any) -> Any:
    # torch 2.13 has the first, torch 2.11 the second
    return result.wrap_for_lowering() if hasattr(result, "wrap_for_lowering") else ir.TensorBox.create(result)


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


def options_of(mode: str) -> Mapping[str, Any]:
    """Inductor's options for a mode of torch.compile, such as "reduce-overhead"."""
    found: Mapping[str, Any] = torch._inductor.list_mode_options(mode)
    return found


def compiled(
    captured: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    options: Mapping[str, Any],
    hook: PreGradPass | None = None,
) -> Function:
    """Have Inductor compile a graph with these options, such as max_autotune, after the hook was applied to it."""
    options = dict(options)
    if hook is not None:
        options["pre_grad_custom_pass"] = hook
        if hasattr(torch._inductor.config, "pre_grad_pass_timing"):
            # also where Inductor finds the compiled graph on disk: the operators are this process's own
            options["pre_grad_pass_timing"] = "early"
    function: Function = compile_fx(captured, list(example_inputs), config_patches=options)
    return function
