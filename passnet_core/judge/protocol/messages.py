"""Records that cross a process border: arguments of requests, results of calls, and how a worker can fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from passnet_core.records import (
    Baseline,
    Capture,
    Contender,
    Device,
    NodeValue,
    TensorForm,
)

if TYPE_CHECKING:
    import torch

    from passnet_core.graphs.rewriting import TracedPass


class CallableName(StrEnum):
    """The names under which a worker keeps the callables that it has prepared."""

    EAGER = "eager"
    FLOAT64 = "float64"
    MOVED = "moved"
    BASELINE = "baseline"
    PASSES = "passes"


CALLABLES: Mapping[Contender, CallableName] = {
    Contender.EAGER: CallableName.EAGER,
    Contender.BASELINE: CallableName.BASELINE,
    Contender.PASSES: CallableName.PASSES,
}
"""The callable that each contender is timed by."""


@dataclass(frozen=True)
class Preparation:
    """A callable that a worker is to build from source (a class GraphModule, already placed on the device).

    EAGER: the unchanged subgraph; float64 asks for its double precision form, moved for one that moves each result it
    rounds to half precision by one ulp, up or down at random, in each call in another way.
    BASELINE: the subgraph through Inductor, in this capture mode, compiled as `baseline` says.
    PASSES, direct: the source is the rewritten graph. PASSES, compiled: the source is the subgraph; the worker calls
    torch.compile with a backend that applies the loaded passes to Dynamo's graph.
    weights: names of the inputs that are parameters of the model, if the bundle may prepare them."""

    contender: Contender
    source: str
    capture: Capture
    device: Device
    float64: bool = False
    moved: bool = False
    weights: tuple[str, ...] = ()
    baseline: Baseline = Baseline.INDUCTOR


@dataclass(frozen=True)
class Produced:
    """One value that a call returned. value: the tensor or the plain number, or None for anything else.

    device: as torch spells it, "cpu" or "cuda:0". strides: those of the tensor as it was returned."""

    type: str
    """Qualified type name: "torch.Tensor", "int", "NoneType"."""
    value: "torch.Tensor | int | float | bool | None" = None
    dtype: str = ""
    """Without "torch."."""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    device: str = ""
    shares: tuple[str, ...] = ()
    """The inputs and earlier outputs that its memory overlaps: "input 0", "output 1"."""


@dataclass(frozen=True)
class Seen:
    """A kernel, operation or read that the launch recorder saw, with its count. kind: one of those that it lists.
    where: the bundle's line, "file.py:12". remark: "converts", "parts", "one number" or empty."""

    kind: str
    name: str
    where: str
    remark: str
    count: int


@dataclass(frozen=True)
class Launches:
    """What one replacement function launched in one call of the graph, as the candidate worker reports it.

    fresh: how many of its calls returned memory that is not its arguments'."""

    function: str
    calls: int
    fresh: int
    seen: tuple[Seen, ...]


@dataclass(frozen=True)
class Watched:
    """What the replacement functions did in a call of the graph. plans: what was executed in their place, in order, in
    the form of plan/record.py."""

    launches: tuple[Launches, ...]
    plans: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Returned:
    """The result of one call. container: "tuple", "list", or "" for a bare value, which is then the only output."""

    outputs: tuple[Produced, ...]
    container: str
    seconds: float
    """By the worker's clock: a hint for choosing sizes, never a measurement."""
    matches: int | None = None
    """Compiled capture only: how many matches the worker says that it rewrote."""
    changed: "Mapping[int, torch.Tensor]" = field(default_factory=dict)
    """The inputs that the call changed, by index, with their new content."""
    work_s: "float | None" = None
    """CPU only: how many seconds Triton's interpreter takes on a usual machine for what the kernels did, by the
    candidate worker's count. None: nothing was counted."""


@dataclass(frozen=True)
class Executed:
    """A call in which plans took the place of the replacement functions. used: the questions of the plans, in order.
    problems: what the kernels did that is wrong whatever the values, such as a race, in words. copied: what torch's
    copies did in place of kernels, in words. stored: if only some programs of each launch ran, for each output which
    elements they stored as they are in a call of all programs, and how many elements all programs store at most, if
    each stores as many as those that ran. atomic: whether any kernel used an atomic operation, by which a program may
    learn that it is the last."""

    returned: Returned
    used: tuple[str, ...]
    problems: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    stored: "tuple[tuple[torch.Tensor, int], ...]" = ()
    atomic: bool = False


@dataclass(frozen=True)
class LoopTimes:
    """Microseconds of one call, by callable and round, each from a loop of calls. host_us: by the host's clock, which
    begins and ends with an idle device. device_us: between two device events around the loop."""

    host_us: tuple[tuple[float, ...], ...]
    device_us: tuple[tuple[float, ...], ...]


Given: TypeAlias = TensorForm | int | float | bool
"""An input without content: a tensor's shape and dtype, or a plain number."""


@dataclass(frozen=True)
class Propagated:
    """Shapes and dtypes of a graph's nodes, as far as known. problem: why some are unknown, or empty."""

    values: tuple[NodeValue, ...]
    problem: str


TEXT_CHARACTERS, TEXTS_CHARACTERS = 150_000, 900_000
"""Most characters of one text of a compiled kernel, and of the texts of all kernels together."""

MOST_LAUNCHES, MOST_PROGRAMS, MOST_ACCESSES, MOST_LANES = 4, 32, 24, 4096
"""What a trace of kernels holds at most: launches, programs per launch, accesses per program, lanes per access."""
MOST_TRACED_LANES = 90_000
"""How many lanes all accesses of a trace have together at most."""
MOST_ARGUMENTS = 64
"""How many tensors, and how many other arguments, a launch in a trace has at most."""
VALUE_CHARACTERS = 40
"""Most characters of a value in a trace."""


Fills: TypeAlias = Sequence[Mapping[str, Any]]
"""How each input of a timed call is drawn, in the form of timed_inputs.fills."""


@dataclass(frozen=True)
class Loaded:
    """A loaded bundle: its traced passes, and a key for each distinct replacement function, "replacement_0" and so on.
    hooks: for each replacement function whose pass has the hook prepare(weights), by key, the names of its arguments
    that the hook may prepare, empty for others. renewed: the files whose replacement_func() returns another object at
    each call."""

    passes: "tuple[TracedPass, ...]"
    replacements: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renewed: tuple[str, ...] = ()


class CandidateEnd(Exception):
    """A worker did not answer a request as it should. who: its role, such as "candidate"."""

    who: str = "candidate"


@dataclass(frozen=True)
class ErrorPlace:
    """The line of a bundle that a candidate worker blames, which the bundle may not have."""

    file: str
    line: int
    function: str


REFUSED = "device-side assert triggered"
"""What CUDA says, at some later call, of an operation whose values are outside of what it takes: a probability of 2."""


class CandidateFault(CandidateEnd):
    """A worker failed. kind: "load", "pattern", "compile", "runtime", "outside" (a kernel uses memory that it was not
    given), "launch" (CUDA refuses it), "memory", "form", "gpu" (it needs one that this machine does not have), "plan"
    (none can be recorded), "alone" (a kernel cannot be loaded without the rest of its bundle) or "protocol". place:
    None if no line of the bundle is known."""

    def __init__(self, kind: str, text: str, trace: str = "", place: ErrorPlace | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.trace = trace
        self.place = place


class CandidateGone(CandidateEnd):
    """The worker process ended. status: as of os.waitstatus_to_exitcode, negative for a signal; None if unknown."""

    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class CandidateTimeout(CandidateEnd):
    """The worker did not answer within the deadline and was killed."""

    def __init__(self, seconds: float, doing: str) -> None:
        super().__init__(f"The worker did not {doing} within {seconds:.0f} s.")
        self.seconds = seconds
        self.doing = doing
