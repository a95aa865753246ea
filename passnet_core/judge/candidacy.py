"""The seam between the judge's processes and its meaning: what may be asked of a process that computes.

Two processes answer the same questions. The *candidate* has loaded a bundle and is not trusted. The *witness* has
loaded none: it computes eager, its float64 form and Inductor, so that a failure of theirs cannot harm the referee.

What the child process calls (candidate.py, with torch and triton loaded):
    tracing.trace_pattern(function) -> Graph             tracing.trace_arguments(function) -> Graph
    building.prepared(preparation, traced, replacements) -> Callable[[list], object]   called as call(inputs)
    timing.warm_up(call, inputs, seconds, device)        rounds.serve(receive, send, call, buffers, clock, …)
    inspecting.propagated(source, given, device) and generated(…)       where nothing is judged, in the witness
    compiling.kernels(call, device, folder)              where nothing is judged, in a candidate of its own
    bench_at_witness.ServedBench(witness, device)        on CUDA, in the witness: inputs, references, comparison
    recalling.checked(witness, fills, …)                 on CUDA, in the witness: a timed call against eager
    interpreter.mend()                                   once, before any child exists, on a machine without a GPU

What the referee calls (referee.py), which itself computes nothing on a GPU:
    signatures.bind(node) -> Call
    verifying.verify(job, graph, preparations, candidate, witness, *, seed: int, report: Callable[[str], None])
        -> Verification      prepares and runs "eager", "float64" on the witness and "passes" on the candidate
                             (solver Inductor: "baseline" on the witness, and candidate is the witness)
    census.judged(bundle, device, tallies, graph, rewritten, keys) -> Census         where VERIFY found all right
    measuring.measure(the same) -> Measurement                       callables are prepared already, but for "baseline"
    deciding.outcome(job, facts, *, environment, wall_s, finished_at, log_tail) -> Outcome
where graph is the subgraph as parsed, preparations: Mapping[str, Preparation] holds all four names, and report takes a
short sentence for the person who waits. CandidateEnd passes through them to the referee, which hands it to deciding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from passnet_core.records import (
    Accelerator,
    Accuracy,
    Bundle,
    Capture,
    Clock,
    CompiledKernel,
    Contender,
    Device,
    Evidence,
    Finding,
    InductorCode,
    MatchReport,
    NodeValue,
    Speedup,
    TensorForm,
    Timing,
    Verdict,
)

if TYPE_CHECKING:
    import torch

    from passnet_core.graphs.rewriting import TracedPass
    from passnet_core.judge.bench import Bench, Plan
    from passnet_core.judge.recalling import Checked


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
class Call:
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


class TimedCalls(Protocol):
    """A series of timed calls of one callable, to be ended. begun_us: what it took to begin it, by the referee's clock:
    the weights that stay the same meanwhile are drawn, and prepared where the bundle asks for that."""

    begun_us: float

    def call(self, seed: int, slot: int, *, keep_last: bool = False) -> Call:
        """One call on the inputs of this seed. keep_last: what the call before this one returned is wanted."""
        ...

    def end(self, *, keep_last: bool = False) -> tuple[Returned, ...]:
        """What the calls returned whose outputs were wanted, in order."""
        ...


@dataclass(frozen=True)
class Loaded:
    """What a bundle gave: its passes, traced; replacement keys are "replacement_0", … by distinct function. prepares:
    whether a pass has the hook prepare(weights)."""

    passes: "tuple[TracedPass, ...]"
    replacements: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    prepares: bool = False


@dataclass(frozen=True)
class Verification:
    """What VERIFY found. verdict: VALUES_ONLY where all is right, else one of WRONG, or EAGER_FAILED."""

    verdict: Verdict
    reason: str
    accuracy: Accuracy | None
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


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
class Tallied:
    """All that one replacement function did in one call of the graph, by the child's account.

    fresh: in how many of its calls a result lay in other memory than its arguments. launches: of Triton kernels in
    another call of the graph, watched by other means.
    """

    function: str
    calls: int
    fresh: int
    launches: int
    seen: tuple[Seen, ...]


@dataclass(frozen=True)
class Census:
    """What the census found. verdict: LIBRARY, or VALUES_ONLY where nothing foreign computed."""

    verdict: Verdict
    reason: str
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
    noise: float | None = None
    """As in Outcome; None where eager was not timed against itself."""


class CandidateEnd(Exception):
    """The child did not give what it was asked for. who: "candidate" or "witness"."""

    who: str = "candidate"


@dataclass(frozen=True)
class Facts:
    """All that the referee knows when a job is over. during: the stage in which the end came."""

    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    verification: Verification | None = None
    census: Census | None = None
    measurement: Measurement | None = None
    end: CandidateEnd | None = None
    during: str = ""
    """ "load", "rewrite", "prepare", "verify", "census" or "measure"."""
    problem: str = ""
    """A failure of the judge or the machine: an infrastructure error whatever else is known."""
    rewrite_problem: str = ""
    """Why the matched graph could not be rewritten."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


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


class Computing(Protocol):
    """What computes references: a client of the witness, or the witness itself. As in CandidateClient."""

    def give(self, inputs: "Sequence[torch.Tensor | int]") -> None: ...

    def run(self, name: str, *, fresh: bool = True) -> Returned: ...


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

    def bench(self, plan: "Plan") -> "Bench":
        """A bench on its device. Witness only."""
        ...

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        """Calls it once with copies of the given inputs and sends back what it returned.

        fresh: at new addresses; else in the very tensors of the child's call before, where they fit.
        """
        ...

    def warm_up(self, name: str, fills: Fills, seconds: float) -> None:
        """Calls it for about so long, at least thrice."""
        ...

    def rounds(self, name: str, clock: Clock, fills: Fills, core: int | None, weights: int) -> TimedCalls:
        """Timed calls on this clock, one by one. core: where the child's thread is to stay meanwhile. weights: the seed
        of the inputs that stay the same in all of them, if any do."""
        ...

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        """What it returns for the inputs of these seeds; without a name, these inputs."""
        ...

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> "Checked":
        """Whether a timed call of the other child, with these seeds, returned the truth. Witness only."""
        ...

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        """Microseconds that kernels took in each of so many calls, by the device trace."""
        ...

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        """Microseconds of a replay of the call as a CUDA graph; None where it cannot be captured."""
        ...

    def census(self, name: str) -> tuple[Tallied, ...]:
        """Calls it twice on the given inputs and lists what its replacement functions launched."""
        ...

    def rest(self) -> None:
        """Stops it, with all that it has started, until it is asked again: while another's calls are timed. Should it
        go on meanwhile, the next that is asked raises CandidateFault. Candidate only."""
        ...

    def copying(self) -> float | None:
        """Bytes per microsecond that a copy on the device moves just now, read and written; None without one."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the child sees of its machine: versions, device name. By its own account."""
        ...

    def accelerator(self) -> Accelerator | None:
        """The GPU, of those facts; None on a CPU."""
        ...

    def propagate(self, source: str, given: Sequence[Given]) -> Propagated:
        """What each node of this source, placed on the device, gives for such inputs. Witness only, as generate."""
        ...

    def compiled(self, name: str) -> tuple[CompiledKernel, ...]:
        """Calls it on the given inputs and says what Triton made of the kernels that it launched. Candidate only, in a
        process that is asked nothing else afterwards."""
        ...

    def generate(self, source: str, given: Sequence[Given]) -> InductorCode | str:
        """TorchInductor's code for it, or a sentence that says why there is none."""
        ...
