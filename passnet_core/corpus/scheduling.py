"""Find out how TorchInductor would schedule a graph on a GPU, on a machine without one.

Inductor decides what to fuse from shapes, strides and the device's properties alone. It is therefore given fake tensors
that claim to be on a GPU of known properties, and is stopped after scheduling, before it writes a kernel. Parts of
torch.cuda are replaced meanwhile, so this is only for programs that cut models, not for the app or the judge."""

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

from passnet_core.corpus.running import empty
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
"""The properties that torch.cuda.get_device_properties returns on an H200."""


@dataclass(frozen=True)
class Schedule:
    """own: kernels that Inductor would generate. library: calls of library kernels, such as products or sorting."""

    own: int
    library: int


class _Decided(Exception):
    """Raised to stop Inductor once its schedule is known."""


def schedule(graph: Graph, specs: Sequence[TensorSpec]) -> Schedule | None:
    """Return Inductor's schedule of a graph for these inputs, or None if Inductor cannot lower it.
    Inductor's own pattern matcher and its layout optimization are switched off."""
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
            # a cached result would come without scheduling
            fx_graph_cache=False,
            fx_graph_remote_cache=False,
            pattern_matcher=False,
            # the copies that reorder a convolution's images would count as kernels
            layout_optimization=False,
        ),
    ):
        torch._dynamo.reset()
        with FakeTensorMode():
            inputs = [empty(spec, "cuda") for spec in specs]
        try:
            inductor.compile(computation, inputs)
        except (_Decided, InductorError, RuntimeError):
            # either the schedule is known, or the graph cannot be lowered and nothing was seen
            pass
        else:
            # compiled without scheduling anything: there are only views
            seen.append(Schedule(0, 0))
    return seen[0] if seen else None


def _in_primitives(graph: Graph, specs: Sequence[TensorSpec]) -> torch.fx.GraphModule:
    """Decompose the graph into the primitive operations that Inductor lowers, and place it on the GPU.
    The primitives do not touch the device themselves. Writes into inputs become additional outputs."""
    space: dict[str, Any] = {}
    exec(compile(emit(placed(graph, "cpu")), "<subgraph>", "exec"), space)
    module = space["GraphModule"]().eval()
    with torch.no_grad(), FakeTensorMode():
        functional = functionalize(module, remove="mutations")
        inputs = [empty(spec, "cpu") for spec in specs]
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


@contextlib.contextmanager
def _pretended_gpu() -> Iterator[None]:
    """Make torch.cuda report an H200."""
    nothing: Callable[..., None] = lambda *ignored: None
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
        "get_device_capability": lambda *ignored: (H200.major, H200.minor),
        "get_rng_state": lambda *ignored: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": nothing,
    }
    with contextlib.ExitStack() as pretending:
        for name, part in parts.items():
            pretending.enter_context(mock.patch.object(torch.cuda, name, part, create=True))
        # its cached answer is about this machine's real device
        pretending.enter_context(mock.patch("torch._inductor.scheduler.has_triton", return_value=True))
        for passes in ("joint_graph", "post_grad"):
            # these would trace patterns on the GPU
            pretending.enter_context(mock.patch(f"torch._inductor.fx_passes.{passes}.lazy_init", nothing))
        yield
