"""How TorchInductor would schedule a graph on a GPU, on a machine that has none.

Inductor decides what to fuse from shapes, strides and the device's properties alone. So it is given tensors without
content, which claim to be on a GPU of known properties, and is stopped when it has decided, before it writes a kernel.
A developer's tool, for the extractor: it replaces parts of torch.cuda while it asks.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch._inductor as inductor
from torch._functorch import config as functorch_config
from torch._inductor import config
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.exc import InductorError
from torch._inductor.scheduler import ExternKernelSchedulerNode, NopKernelSchedulerNode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from passnet_core.graphs.ir import Graph
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit
from passnet_core.records import TensorSpec

# fmt: off
H200 = SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=140 << 30, warp_size=32,
    regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
    shared_memory_per_block=49152, shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472,
    L2_cache_size=60 << 20, gcnArchName="", is_integrated=0, is_multi_gpu_board=0,
)
# fmt: on
"""What torch.cuda.get_device_properties says of it."""


@dataclass(frozen=True)
class Schedule:
    """Kernels that Inductor would generate, and calls of a library's: products, convolutions, sorting."""

    own: int
    library: int


class _Decided(Exception):
    """Raised to stop Inductor once its schedule is known."""


def schedule(graph: Graph, specs: Sequence[TensorSpec]) -> Schedule | None:
    """Inductor's schedule of a graph of these inputs, without its own patterns and changes of layout; None where it
    cannot lower it."""
    try:
        computation = _in_primitives(graph, specs)
    except (RuntimeError, TypeError, ValueError):
        return None
    seen: list[Schedule] = []

    def decided(nodes: list[Any]) -> list[Any]:
        library = sum(isinstance(node, ExternKernelSchedulerNode) for node in nodes)
        nothing = sum(isinstance(node, NopKernelSchedulerNode) for node in nodes)
        seen.append(Schedule(len(nodes) - library - nothing, library))
        raise _Decided

    with (
        _pretended_gpu(),
        torch.no_grad(),
        functorch_config.patch(enable_autograd_cache=False, enable_remote_autograd_cache=False),
        config.patch(
            _post_fusion_custom_pass=decided,
            # nothing is kept, and nothing that was kept may stand in for a schedule
            fx_graph_cache=False,
            fx_graph_remote_cache=False,
            pattern_matcher=False,
            # where a convolution wants its images otherwise, what reorders them is no part of what is fused
            layout_optimization=False,
        ),
    ):
        torch._dynamo.reset()
        with FakeTensorMode():
            inputs = [_empty(spec, "cuda") for spec in specs]
        try:
            inductor.compile(computation, inputs)
        except (_Decided, InductorError, RuntimeError):
            # decided, or not to be lowered: then nothing was seen
            pass
        else:
            # nothing to schedule: views alone
            seen.append(Schedule(0, 0))
    return seen[0] if seen else None


def _in_primitives(graph: Graph, specs: Sequence[TensorSpec]) -> torch.fx.GraphModule:
    """The graph in the primitive operations that Inductor lowers, of which none looks for the device itself, placed on
    the GPU. What it writes into its inputs, it returns."""
    space: dict[str, Any] = {}
    exec(compile(emit(placed(graph, "cpu")), "<subgraph>", "exec"), space)
    module = space["GraphModule"]().eval()
    with torch.no_grad(), FakeTensorMode():
        functional = functionalize(module, remove="mutations")
        inputs = [_empty(spec, "cpu") for spec in specs]
        made = make_fx(functional, decomposition_table=select_decomp_table(), tracing_mode="fake")(*inputs)
    written = []
    for node in made.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": torch.device("cuda", 0)}
        if node.target is torch.ops.aten.copy_.default:
            written.append(node.args[1])
            made.graph.erase_node(node)
    output = made.graph.output_node()
    (returned,) = output.args
    output.args = ((*(returned if isinstance(returned, tuple | list) else (returned,)), *written),)
    made.recompile()
    return made


def _empty(spec: TensorSpec, device: str) -> torch.Tensor:
    return torch.empty(spec.shape, dtype=getattr(torch, spec.dtype), device=device)


@contextlib.contextmanager
def _pretended_gpu() -> Iterator[None]:
    nothing: Callable[..., None] = lambda *asked: None
    parts: dict[str, Any] = {
        "_lazy_init": nothing,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "synchronize": nothing,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
        "_get_device_properties": lambda device: H200,
        "get_device_capability": lambda *asked: (H200.major, H200.minor),
        "get_rng_state": lambda *asked: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": nothing,
    }
    with contextlib.ExitStack() as pretending:
        for name, part in parts.items():
            pretending.enter_context(mock.patch.object(torch.cuda, name, part, create=True))
        # what was found before about this machine's own device is remembered there
        pretending.enter_context(mock.patch("torch._inductor.scheduler.has_triton", return_value=True))
        for passes in ("joint_graph", "post_grad"):
            # they would trace patterns on the GPU
            pretending.enter_context(mock.patch(f"torch._inductor.fx_passes.{passes}.lazy_init", nothing))
        yield
