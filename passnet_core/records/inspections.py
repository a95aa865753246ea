"""What can be said of a subgraph, and of the kernels that passes launch on it, without a verdict."""

from dataclasses import dataclass

from passnet_core.records.machines import Accelerator, Environment


@dataclass(frozen=True)
class TensorForm:
    """Shape and dtype of a tensor; dtype without "torch."."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class NodeValue:
    """What a node of a subgraph gives: one tensor, or several in a tuple."""

    node: str
    tensors: tuple[TensorForm, ...]


@dataclass(frozen=True)
class InductorCode:
    """What TorchInductor generates for a subgraph. text: as it is written, its end left out where it is huge.

    launches: of generated kernels, in one call; library_calls: beside them, of torch's own kernels.
    """

    text: str
    launches: int
    library_calls: int


@dataclass(frozen=True)
class Inspection:
    """What can be said of a subgraph on a device without judging anything.

    values: per node, inputs among them, in the graph's order; nodes that give no tensor, or one that is not known, are
    left out. values_problem: why some are not known. code: TorchInductor's, where it was asked for; code_problem: why
    there is none. accelerator: on CUDA.
    """

    subgraph_digest: str
    environment: Environment
    values: tuple[NodeValue, ...] = ()
    values_problem: str = ""
    code: InductorCode | None = None
    code_problem: str = ""
    accelerator: Accelerator | None = None

    def __post_init__(self) -> None:
        if self.code is not None and self.code_problem:
            raise ValueError("An inspection has the code, or why there is none.")


@dataclass(frozen=True)
class CompiledKernel:
    """A Triton kernel as it was compiled for a subgraph, by the account of the process that holds the passes: a claim.

    target: compute capability, "9.0". ran: it was launched there; false: compiled only. launches: in one call.
    registers: of a thread; spills: of those, how many lie in memory. problem: why it has no texts.
    """

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
    """What Triton makes of the kernels that passes launch on a subgraph. problem: why there are none."""

    subgraph_digest: str
    bundle_digest: str
    environment: Environment
    kernels: tuple[CompiledKernel, ...] = ()
    problem: str = ""

    def __post_init__(self) -> None:
        if bool(self.kernels) == bool(self.problem):
            raise ValueError("There are kernels, or a reason why there are none.")
