"""The seam between the judge's processes and its meaning: what may be asked of a process that computes.

Two processes answer the same questions. The *candidate* has loaded a bundle and is not trusted. The *witness* has
loaded none: it computes eager, its float64 form and Inductor, so that a failure of theirs cannot harm the referee.

What the child process calls (candidate.py, with torch and triton loaded):
    tracing.trace_pattern(function) -> Graph             tracing.trace_arguments(function) -> Graph
    building.prepared(preparation, traced, replacements) -> Callable[[list], object]   called as call(inputs)
    timing.warm_up(call, inputs, seconds, device)        timing.block(call, inputs, clock, calls, device) -> list[float]
    interpreter.mend()                                   once, before any child exists, on a machine without a GPU

What the referee calls (referee.py), which itself computes nothing on a GPU:
    signatures.bind(node) -> Call
    verifying.verify(job, graph, preparations, candidate, witness, *, seed: int, report: Callable[[str], None])
        -> Verification      prepares and runs "eager", "float64" on the witness and "passes" on the candidate
                             (solver Inductor: "baseline" on the witness, and candidate is the witness)
    measuring.measure(the same) -> Measurement                       callables are prepared already, but for "baseline"
    deciding.outcome(job, facts, *, environment, wall_s, finished_at, log_tail) -> Outcome
where graph is the subgraph as parsed, preparations: Mapping[str, Preparation] holds all four names, and report takes a
short sentence for the person who waits. CandidateEnd passes through them to the referee, which hands it to deciding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from passnet_core.records import (
    Accuracy,
    Bundle,
    Capture,
    Clock,
    Contender,
    Device,
    Evidence,
    Finding,
    MatchReport,
    Speedup,
    Timing,
    Verdict,
)

if TYPE_CHECKING:
    import torch

    from passnet_core.graphs.rewriting import TracedPass


@dataclass(frozen=True)
class Preparation:
    """One callable to be built from emitted source (class GraphModule, already placed on the device).

    EAGER: the subgraph as it is; float64 asks for its double precision form.
    BASELINE: the subgraph through Inductor, in this capture mode.
    PASSES, direct: the source is the rewritten graph. PASSES, compiled: the source is the subgraph, which the child
    gives to torch.compile with a backend that rewrites Dynamo's graph with the loaded passes.
    """

    contender: Contender
    source: str
    capture: Capture
    device: Device
    float64: bool = False


@dataclass(frozen=True)
class Produced:
    """One value that a call returned. value: the tensor on the CPU, or the plain number, or None for anything else.

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


@dataclass(frozen=True)
class Returned:
    """What one call returned. container: "tuple", "list", or "" where a bare value came back (then one output)."""

    outputs: tuple[Produced, ...]
    container: str
    seconds: float
    """As the child saw it: a hint for choosing sizes, never a measurement."""
    matches: int | None = None
    """Compiled capture only: how many matches the child's backend rewrote, by its own account."""


@dataclass(frozen=True)
class Loaded:
    """What a bundle gave: its passes, traced; replacement keys are "replacement_0", … by distinct function."""

    passes: "tuple[TracedPass, ...]"
    replacements: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verification:
    """What VERIFY found. verdict: VALUES_ONLY where all is right, else one of WRONG, or EAGER_FAILED."""

    verdict: Verdict
    reason: str
    accuracy: Accuracy | None
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """What MEASURE found. verdict: SLOWER, NO_DIFFERENCE or FASTER, or VALUES_ONLY where it cannot be timed."""

    verdict: Verdict
    reason: str
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class CandidateEnd(Exception):
    """The child did not give what it was asked for. who: "candidate" or "witness"."""

    who: str = "candidate"


@dataclass(frozen=True)
class Facts:
    """All that the referee knows when a job is over. during: the stage in which the end came."""

    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    verification: Verification | None = None
    measurement: Measurement | None = None
    end: CandidateEnd | None = None
    during: str = ""
    """ "load", "rewrite", "prepare", "verify" or "measure"."""
    problem: str = ""
    """A failure of the judge or the machine: an infrastructure error whatever else is known."""
    rewrite_problem: str = ""
    """Why the matched graph could not be rewritten."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class CandidateFault(CandidateEnd):
    """The child's code raised. kind: "load", "pattern", "compile", "runtime", "memory" or "protocol"."""

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


class CandidateClient(Protocol):
    """What may be asked. Each call raises CandidateFault, CandidateGone or CandidateTimeout; after the latter two
    the child is gone for good. The job's deadline counts for all calls together."""

    def load(self, bundle: Bundle) -> Loaded:
        """Imports the bundle and traces its passes. Candidate only, first, once."""
        ...

    def prepare(self, name: str, preparation: Preparation) -> None:
        """Builds a callable and keeps it under this name: "eager", "float64", "baseline", "passes"."""
        ...

    def give(self, inputs: "Sequence[torch.Tensor | int | float | bool]") -> None:
        """Replaces the inputs, which live on the CPU here and are moved to the device there."""
        ...

    def run(self, name: str) -> Returned:
        """Calls it once with fresh copies of the given inputs and sends back what it returned."""
        ...

    def warm_up(self, name: str, seconds: float) -> None:
        """Calls it with the given inputs for about so long, at least thrice."""
        ...

    def block(self, name: str, clock: Clock, calls: int) -> list[float]:
        """Microseconds of each of so many calls, on this clock."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the child sees of its machine: versions, device name. By its own account."""
        ...
