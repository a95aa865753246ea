"""Facts about a subgraph that need no verdict: its values' shapes, Inductor's code, the kernels that passes launch."""

from dataclasses import dataclass

from passnet_core.records.enums import Baseline
from passnet_core.records.machines import Accelerator, Environment


@dataclass(frozen=True)
class TensorForm:
    """The shape and dtype of a tensor. dtype: without "torch."."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class NodeValue:
    """The result of a node of a subgraph: one tensor, or a tuple of several."""

    node: str
    tensors: tuple[TensorForm, ...]


@dataclass(frozen=True)
class InductorCode:
    """The code that TorchInductor generates for a subgraph.

    text: the Python source; if it is very long, without its end. launches: how many generated kernels one call
    launches. library_calls: how often one call also calls kernels of torch or of a library."""

    text: str
    launches: int
    library_calls: int


@dataclass(frozen=True)
class Inspection:
    """Facts about a subgraph on one device, found without judging a candidate.

    values: one entry per node, inputs included, in graph order; nodes without a tensor, or with an unknown one, are
    left out. values_problem: why some values are unknown; empty: none is. code: TorchInductor's code; None: not asked
    for, or not available. code_problem: why the code is not available; empty if it is or was not asked for.
    accelerator: the GPU; None on a CPU. baseline: the one whose code it is."""

    subgraph_digest: str
    environment: Environment
    values: tuple[NodeValue, ...] = ()
    values_problem: str = ""
    code: InductorCode | None = None
    code_problem: str = ""
    accelerator: Accelerator | None = None
    baseline: Baseline = Baseline.INDUCTOR

    def __post_init__(self) -> None:
        if self.code is not None and self.code_problem:
            raise ValueError("An inspection has either Inductor's code or the reason why there is none, not both.")


@dataclass(frozen=True)
class CompiledKernel:
    """A Triton kernel as compiled for a subgraph. Only the candidate worker reports it, so it is a claim, not a fact.

    target: the compute capability compiled for, such as "9.0". ran: whether it was also launched; False: only compiled.
    launches: how often one call of the rewritten graph launches it. shared_bytes: shared memory per block. registers:
    per thread. spills: how many of these registers lie in local memory. A None means that Triton did not report the
    number. ttir, ttgir, ptx: the text at each level of lowering. problem: why there are no texts; empty: there are."""

    name: str
    target: str
    ran: bool
    launches: int
    num_warps: int | None = None
    num_stages: int | None = None
    shared_bytes: int | None = None
    registers: int | None = None
    spills: int | None = None
    ttir: str = ""
    ttgir: str = ""
    ptx: str = ""
    problem: str = ""


@dataclass(frozen=True)
class PassKernels:
    """The kernels that passes launch on a subgraph, as Triton compiles them. problem: why there are none."""

    subgraph_digest: str
    bundle_digest: str
    environment: Environment
    kernels: tuple[CompiledKernel, ...] = ()
    problem: str = ""

    def __post_init__(self) -> None:
        if bool(self.kernels) == bool(self.problem):
            raise ValueError("PassKernels has either kernels or the reason why there are none.")
