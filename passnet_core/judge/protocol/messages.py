"""What crosses a process border, as data: requests' arguments, what a call returned, and how a process can fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from passnet_core.records import (
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
    """One callable to be built from emitted source (class GraphModule, already placed on the device).

    EAGER: the subgraph as it is; float64 asks for its double precision form.
    BASELINE: the subgraph through Inductor, in this capture mode.
    PASSES, direct: the source is the rewritten graph. PASSES, compiled: the source is the subgraph, which the child
    gives to torch.compile with a backend that rewrites Dynamo's graph with the loaded passes.
    weights: the inputs that are parameters of the model, where the bundle may prepare them.
    """

    contender: Contender
    source: str
    capture: Capture
    device: Device
    float64: bool = False
    weights: tuple[str, ...] = ()


@dataclass(frozen=True)
class Produced:
    """One value that a call returned. value: the tensor, or the plain number, or None for anything else.

    device without an index where it is the only one: "cpu", "cuda:0". strides of the tensor as it was returned.
    """

    type: str
    """Qualified type name: "torch.Tensor", "int", "NoneType"."""
    value: "torch.Tensor | int | float | bool | None" = None
    dtype: str = ""
    """Without "torch."."""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    device: str = ""
    shares: tuple[str, ...] = ()
    """With what its memory overlaps: "input 0", "output 1" where that comes before it."""


@dataclass(frozen=True)
class Returned:
    """What one call returned. container: "tuple", "list", or "" where a bare value came back (then one output)."""

    outputs: tuple[Produced, ...]
    container: str
    seconds: float
    """As the child saw it: a hint for choosing sizes, never a measurement."""
    matches: int | None = None
    """Compiled capture only: how many matches the child's backend rewrote, by its own account."""
    changed: "Mapping[int, torch.Tensor]" = field(default_factory=dict)
    """Inputs with another content than was given, after the call."""
    overwrote: tuple[int, ...] = ()
    """Outputs of this callable's call before, still held, that this call changed."""
    late: tuple[int, ...] = ()
    """CUDA only: outputs that were not there yet when the stream of the call had done its work."""


Given: TypeAlias = TensorForm | int | float | bool
"""An input without content: what a tensor looks like, or a plain number."""


@dataclass(frozen=True)
class Propagated:
    """What the nodes of a graph give, those that are known. problem: why some are not; empty: all are."""

    values: tuple[NodeValue, ...]
    problem: str


TEXT_CHARACTERS, TEXTS_CHARACTERS = 150_000, 900_000
"""Most of one text of a compiled kernel, and of all together."""


Fills: TypeAlias = Sequence[Mapping[str, Any]]
"""How each input of a timed call is drawn, as rounds.fills says it."""


@dataclass(frozen=True)
class TimedCall:
    """One timed call. claimed_us: by the child's clock, around the call alone. By the referee's: drawing_us, from the
    seed until the inputs are drawn; calling_us, from its word to go to the claim; digesting_us, from there to the
    digest, which is that of what the call returned, as rounds.digest."""

    claimed_us: float
    digest: int
    drawing_us: float
    calling_us: float
    digesting_us: float

    @property
    def waited_us(self) -> float:
        """All that the referee waited for."""
        return self.drawing_us + self.calling_us + self.digesting_us


@dataclass(frozen=True)
class Loaded:
    """What a bundle gave: its passes, traced; replacement keys are "replacement_0", … by distinct function. prepares:
    whether a pass has the hook prepare(weights)."""

    passes: "tuple[TracedPass, ...]"
    replacements: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    prepares: bool = False


@dataclass(frozen=True)
class Seen:
    """One thing that a replacement function launched or asked for, so many times. kind: "kernel", "operation", "read"
    "trace" or "device"; where: "file.py:12" of the bundle; remark: "converts", "one number", or empty."""

    kind: str
    name: str
    where: str
    remark: str
    count: int


@dataclass(frozen=True)
class Launches:
    """All that one replacement function did in one call of the graph, by the child's account.

    fresh: in how many of its calls a result lay in other memory than its arguments. launches: of Triton kernels in
    another call of the graph, watched by other means.
    """

    function: str
    calls: int
    fresh: int
    launches: int
    seen: tuple[Seen, ...]


class CandidateEnd(Exception):
    """The child did not give what it was asked for. who: "candidate" or "witness"."""

    who: str = "candidate"


class CandidateFault(CandidateEnd):
    """The child's code raised. kind: "load", "pattern", "compile", "runtime", "memory", "protocol" or "restless"."""

    def __init__(self, kind: str, text: str, trace: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.trace = trace


class CandidateGone(CandidateEnd):
    """The child ended. status as of waitstatus_to_exitcode: below zero a signal; None: not known."""

    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class CandidateTimeout(CandidateEnd):
    """The child did not answer within the deadline; it has been killed."""

    def __init__(self, seconds: float, doing: str) -> None:
        super().__init__(f"No answer within {seconds:.0f} s while it had to {doing}.")
        self.seconds = seconds
        self.doing = doing
