"""Facts about a subgraph that need no verdict: its values' shapes, Inductor's code, the kernels that passes launch."""

import math
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.records.enums import Baseline
from passnet_core.records.machines import Accelerator, Environment

MOST_AXES, LARGEST_SIZE = 64, 1 << 62
"""The most axes that torch gives a tensor, and more elements than an axis can have."""


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


class AccessKind(StrEnum):
    """What a program does to memory. An atomic operation does both of the others at once."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True)
class TracedTensor:
    """A tensor that a kernel is launched with. name: the kernel's parameter. strides: in elements. dtype: without
    "torch.". source: the subgraph's input in whose memory it lies; empty: in none."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    source: str = ""

    def __post_init__(self) -> None:
        _check_sizes(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class MemoryAccess:
    """One load, store or atomic operation of one program, on a block of lanes.

    line: where it is in the source file. tensor: the name of the one that most lanes address, or that lies before the
    memory that they address; empty: there is none.
    shape: of the block. The other fields have one entry per lane, in row-major order; of a large block without its end.
    elements: the element's row-major position in the shape of the tensor; -1: the address is not one of its elements.
    masked: whether the mask leaves the lane out. values: what the lane loads, stores, or combines with the element, as
    text; "?" if that is not defined, since the lane is left out of a load."""

    kind: AccessKind
    file: str
    line: int
    tensor: str
    shape: tuple[int, ...]
    elements: tuple[int, ...]
    masked: tuple[bool, ...]
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_sizes(self.shape)
        if not len(self.elements) == len(self.masked) == len(self.values) <= self.lanes:
            raise ValueError("An access must have an element, a mask and a value for each of its lanes.")

    @property
    def lanes(self) -> int:
        """How many lanes the block has."""
        return math.prod(self.shape)

    @property
    def touched(self) -> tuple[int, ...]:
        """The elements that it accesses, one per lane that the mask does not leave out; -1 for other addresses."""
        return tuple(element for element, masked in zip(self.elements, self.masked) if not masked)


@dataclass(frozen=True)
class TracedProgram:
    """One program of a launch. ids: its place in the grid. left_out: how many further accesses it made."""

    ids: tuple[int, int, int]
    accesses: tuple[MemoryAccess, ...]
    left_out: int = 0


@dataclass(frozen=True)
class TracedLaunch:
    """The memory accesses of some programs of one launch, by their place in the grid. constants: the arguments that are
    no tensors, with their values as text. ran: how many programs of the grid ran; the others left their elements of the
    results at zero."""

    kernel: str
    grid: tuple[int, int, int]
    constants: tuple[tuple[str, str], ...]
    tensors: tuple[TracedTensor, ...]
    programs: tuple[TracedProgram, ...]
    ran: int

    def __post_init__(self) -> None:
        _check_sizes(self.grid)
        sizes = {each.name: each.size for each in self.tensors} | {"": 0}
        for program in self.programs:
            if not all(0 <= place < size for place, size in zip(program.ids, self.grid)):
                raise ValueError("A program must have a place in the grid.")
            for access in program.accesses:
                size = sizes.get(access.tensor, -1)
                if not -1 <= min(access.elements, default=-1) <= max(access.elements, default=-1) < size:
                    raise ValueError("An access must name a tensor of its launch, and elements of that tensor.")

    @property
    def size(self) -> int:
        """How many programs the grid has."""
        return math.prod(self.grid)

    def tensor(self, name: str) -> TracedTensor | None:
        return next((each for each in self.tensors if each.name == name), None)


@dataclass(frozen=True)
class PassTrace:
    """Which elements the programs of the kernels load and store that passes launch on a subgraph, in Triton's
    interpreter. Only the candidate worker reports it, so it is a claim, not a fact. left_out: how many further launches
    there were. problem: why there are none."""

    subgraph_digest: str
    bundle_digest: str
    environment: Environment
    launches: tuple[TracedLaunch, ...] = ()
    left_out: int = 0
    problem: str = ""

    def __post_init__(self) -> None:
        if bool(self.launches) == bool(self.problem):
            raise ValueError("PassTrace has either launches or the reason why there are none.")


def _check_sizes(sizes: tuple[int, ...]) -> None:
    if len(sizes) > MOST_AXES or not all(0 <= size < LARGEST_SIZE for size in sizes):
        raise ValueError("A shape has at most 64 axes, each with a size that is not negative.")
