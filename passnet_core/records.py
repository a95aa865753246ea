"""The nouns that flow between the parts, as frozen dataclasses, with their JSON form and their digests."""

import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, TypeVar

from passnet_core.errors import BadInput

T = TypeVar("T")

LEVELS = tuple(range(-10, 5))
"""The tolerance levels t of ES(t) in the default interpretation."""


class Stage(StrEnum):
    """How far a job goes. Each stage includes those before it."""

    CHECK = "check"
    """Static rules and matching."""
    VERIFY = "verify"
    """Values, compared with eager at every t."""
    MEASURE = "measure"
    """Time, on three clocks."""


class Capture(StrEnum):
    """How the rewritten graph is called."""

    COMPILED = "compiled"
    """torch.compile with the rewriting backend: Dynamo's guards are paid."""
    DIRECT = "direct"
    """The rewritten graph module called as it is."""


class Profile(StrEnum):
    """By whose rules a job is judged."""

    PASSNET = "passnet"
    """Inputs only as recorded, PassNet's protocol and static rule, at most one replacement function."""
    STRICT = "strict"
    """Everything: the judge's harder drawings, checked calls, negative controls, a census of kernels."""

    @classmethod
    def _missing_(cls, value: object) -> "Profile | None":
        # its name in files written before it stood for more than inputs
        return cls.PASSNET if value == "recorded" else None


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


class Solver(StrEnum):
    """What runs against eager."""

    PASSES = "passes"
    INDUCTOR = "inductor"


class Isolation(StrEnum):
    SANDBOXED = "sandboxed"
    """Own namespaces, read-only system, limits; through bubblewrap."""
    PROCESS = "process"
    """The same limits without namespaces."""


class Verdict(StrEnum):
    """What the judge says of one job, in order of precedence."""

    INFRASTRUCTURE = "infrastructure error"
    CANCELLED = "cancelled"
    EAGER_FAILED = "eager failed"
    REJECTED = "rejected by a rule"
    DOES_NOT_LOAD = "does not load"
    NO_MATCH = "no match"
    REWRITE_FAILED = "rewrite failed"
    COMPILE_FAILED = "compile failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    WRONG_TYPE = "wrong type"
    """Number of outputs, their type, dtype or device."""
    WRONG_SHAPE = "wrong shape"
    NON_FINITE = "wrong NaN or infinity"
    WRONG_VALUES = "wrong values"
    LOWER_PRECISION = "lower precision"
    """Close, but less precise than the dtype and eager allow."""
    CHEAT = "cheat"
    """Evidence that a figure or a value was not computed as claimed."""
    LIBRARY = "library"
    """Kernels that are not the bundle's own did its work: shown, not ranked."""
    MATCHED = "matches"
    """All that CHECK can say."""
    VALUES_ONLY = "right, not timed"
    INCONCLUSIVE = "right, inconclusive"
    """Timed, but the machine was too unsteady, or the subgraph tells nothing: says why."""
    SLOWER = "right, slower"
    NO_DIFFERENCE = "right, no measurable difference"
    FASTER = "right, faster"

    @property
    def accepted(self) -> bool:
        return self in ACCEPTED

    @property
    def judged(self) -> bool:
        """Whether this says something about the candidate, so that it may be scored."""
        return self not in (Verdict.INFRASTRUCTURE, Verdict.CANCELLED)


TIMED = frozenset({Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.FASTER})
RIGHT = TIMED | {Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE}
ACCEPTED = RIGHT | {Verdict.MATCHED}
WRONG = frozenset(
    {Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.NON_FINITE, Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION}
)
RESTS_ON_EVIDENCE = frozenset({Verdict.CHEAT, Verdict.LIBRARY, Verdict.INCONCLUSIVE})
"""Told together with all their evidence: nobody need believe them without."""


class ErrorClass(StrEnum):
    """GraphNet's classes of failure, which ES(t) tolerates from different levels on."""

    ACCURACY = "accuracy"
    TYPE = "type"
    """NaN, infinity, a mismatch of type or shape."""
    RUNTIME = "runtime"
    COMPILE = "compile"
    CHEAT = "cheat"
    """Never tolerated."""
    EAGER = "eager"
    """Eager itself failed: never tolerated."""


ERROR_CLASS: Mapping[Verdict, ErrorClass | None] = {
    Verdict.INFRASTRUCTURE: None,
    Verdict.CANCELLED: None,
    Verdict.EAGER_FAILED: ErrorClass.EAGER,
    Verdict.REJECTED: ErrorClass.COMPILE,
    Verdict.DOES_NOT_LOAD: ErrorClass.COMPILE,
    Verdict.NO_MATCH: ErrorClass.RUNTIME,
    Verdict.REWRITE_FAILED: ErrorClass.COMPILE,
    Verdict.COMPILE_FAILED: ErrorClass.COMPILE,
    Verdict.CRASHED: ErrorClass.RUNTIME,
    Verdict.TIMED_OUT: ErrorClass.RUNTIME,
    Verdict.WRONG_TYPE: ErrorClass.TYPE,
    Verdict.WRONG_SHAPE: ErrorClass.TYPE,
    Verdict.NON_FINITE: ErrorClass.TYPE,
    Verdict.WRONG_VALUES: ErrorClass.ACCURACY,
    Verdict.LOWER_PRECISION: ErrorClass.ACCURACY,
    Verdict.CHEAT: ErrorClass.CHEAT,
    Verdict.LIBRARY: ErrorClass.RUNTIME,
    Verdict.MATCHED: None,
    Verdict.VALUES_ONLY: None,
    Verdict.INCONCLUSIVE: None,
    Verdict.SLOWER: None,
    Verdict.NO_DIFFERENCE: None,
    Verdict.FASTER: None,
}


class MissKind(StrEnum):
    """Why a pattern does not match."""

    OPERATOR = "other operator"
    LITERAL = "other literal or argument"
    NOT_RETURNED = "value used outside the match but not returned"
    USES = "number of uses"
    OVERLAP = "overlapping"
    DEAD_INPUT = "dead pattern input"
    ABSENT = "operator absent from the graph"
    OTHER = "pattern cannot match"


class Clock(StrEnum):
    """The clocks; all figures are microseconds per call."""

    END_TO_END = "end to end"
    """Host clock around the call and a device synchronise."""
    EVENT = "event"
    """Device events around the call: PassNet's "gpu"."""
    COLD = "event, cold"
    """The same after the device's L2 cache was flushed."""
    KERNEL = "kernel"
    """Sum of the kernel durations in the device trace."""


class Contender(StrEnum):
    """Whose time it is."""

    EAGER = "eager"
    BASELINE = "inductor"
    PASSES = "passes"


class Family(StrEnum):
    SINGLE = "single-operator"
    FUSIBLE = "fusible"
    TYPICAL = "typical"


@dataclass(frozen=True)
class TensorSpec:
    """One input of a subgraph. dtype without "torch."; low, high and data as recorded, or None."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str = "cuda:0"
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    data: tuple[float, ...] | None = None
    original_name: str = ""


@dataclass(frozen=True)
class Subgraph:
    """One recorded PyTorch computation. id is unique in its task and is its folder below graphs/, "float16/3/name"."""

    id: str
    task_id: str
    source_model: str
    code: str
    inputs: tuple[TensorSpec, ...]

    @cached_property
    def digest(self) -> str:
        """Covers what is computed (code and inputs), not the names."""
        return digest_of({"code": self.code, "inputs": whole(to_json(self.inputs))})

    @property
    def dtype(self) -> str:
        """The floating dtype most of its input elements have, else that of the first input."""
        sizes: dict[str, int] = {}
        for spec in self.inputs:
            if "float" in spec.dtype:
                sizes[spec.dtype] = sizes.get(spec.dtype, 0) + math.prod(spec.shape)
        return max(sizes, key=lambda dtype: sizes[dtype]) if sizes else (self.inputs[0].dtype if self.inputs else "")


@dataclass(frozen=True)
class Task:
    """One benchmark unit: the subgraphs that one bundle must handle together."""

    id: str
    family: Family
    split: str
    subgraphs: tuple[Subgraph, ...]


@dataclass(frozen=True)
class PassFile:
    """One Python file of a bundle; name without folder, with ".py"."""

    name: str
    code: str


@dataclass(frozen=True)
class Bundle:
    """An ordered list of passes with their helper modules. The digest covers code and order, not the author."""

    passes: tuple[PassFile, ...]
    helpers: tuple[PassFile, ...] = ()
    author: str = ""

    @cached_property
    def digest(self) -> str:
        return digest_of(
            {
                "passes": [[file.name, file.code] for file in self.passes],
                "helpers": sorted([file.name, file.code] for file in self.helpers),
            }
        )

    @property
    def files(self) -> tuple[PassFile, ...]:
        return self.passes + self.helpers


@dataclass(frozen=True)
class EvalSpec:
    """How a job is judged. trials: timed blocks of MEASURE. seed None: drawn after the candidate is loaded."""

    stage: Stage = Stage.VERIFY
    device: Device = Device.CPU
    capture: Capture = Capture.DIRECT
    profile: Profile = Profile.STRICT
    trials: int = 5
    seed: int | None = None
    deadline_s: float = 120.0
    replacement_cap: int | None = None
    """Most distinct replacement functions per bundle; None: no cap. PassNet's is 1."""

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise BadInput(f"Trials must be at least 1, not {self.trials}.")
        if not self.deadline_s > 0:
            raise BadInput(f"The deadline must be above 0 seconds, not {self.deadline_s}.")


@dataclass(frozen=True)
class Job:
    """Self-contained: a remote machine needs nothing else. Without a bundle the solver is Inductor."""

    subgraph: Subgraph
    bundle: Bundle | None
    spec: EvalSpec

    @property
    def solver(self) -> Solver:
        return Solver.INDUCTOR if self.bundle is None else Solver.PASSES

    @cached_property
    def digest(self) -> str:
        return digest_of(
            {
                "subgraph": self.subgraph.digest,
                "bundle": self.bundle.digest if self.bundle else None,
                "spec": whole(to_json(self.spec)),
            }
        )

    @property
    def outcome_fields(self) -> dict[str, Any]:
        """What every outcome of this job repeats of it."""
        return {
            "job_digest": self.digest,
            "task_id": self.subgraph.task_id,
            "subgraph_id": self.subgraph.id,
            "subgraph_digest": self.subgraph.digest,
            "dtype": self.subgraph.dtype,
            "solver": self.solver,
            "bundle_digest": self.bundle.digest if self.bundle else None,
            "spec": self.spec,
        }


@dataclass(frozen=True)
class Finding:
    """One remark of a static rule. line and column count from 1. fatal: the bundle is rejected."""

    file: str
    line: int
    column: int
    rule: str
    message: str
    remedy: str
    fatal: bool = True


@dataclass(frozen=True)
class NearestMiss:
    """Where the closest attempt failed. graph_node None: no node could even be the anchor."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str
    matched: tuple[tuple[str, str], ...] = ()
    """(pattern node, graph node) pairs that did fit before it failed."""


@dataclass(frozen=True)
class Pairing:
    """Which is which in a match: (pattern operation, graph node), and (pattern input, the graph's value as source)."""

    nodes: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Difference:
    """One thing in which a pattern differs from a graph. graph_node None: no node of the graph has to do with it."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str


@dataclass(frozen=True)
class Attempt:
    """One place of a graph at which the search tried to fit a pattern that matches nothing.

    anchor: the pattern's operation that it began with, and the graph's node. fitted: (pattern node, graph node) in the
    order in which they fitted, up to the first difference; beyond: what fits all the same behind it.
    """

    anchor: tuple[str, str | None]
    fitted: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    beyond: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LineChange:
    """Lines of a file that others replace. line: the first, from 1; both texts without the last line's end."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class PatternEdit:
    """Changes of a pattern that were tried together: with them it matches, or comes strictly nearer to that.

    words: a sentence per change. matches: how many there are then; 0: it comes nearer, and then is what differs next.
    lines: the same in the pass's source, where that could be told and was tried too.
    """

    words: tuple[str, ...]
    matches: int
    then: str = ""
    lines: tuple[LineChange, ...] = ()


@dataclass(frozen=True)
class PassMatches:
    """What one pass matched: per match the names of the graph's nodes, in graph order; or the nearest miss.

    The rest explains it, and older outcomes lack it. pattern: the traced pattern, as graphs.ir writes a graph in JSON;
    empty: it was too large to be kept. pairings: of the first matches, in their order. attempts: where nothing matches,
    the nearest first; tried: how many there were. edit: what would mend it.
    """

    name: str
    matches: tuple[tuple[str, ...], ...]
    miss: NearestMiss | None = None
    pattern: str = ""
    pairings: tuple[Pairing, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    tried: int = 0
    edit: PatternEdit | None = None


@dataclass(frozen=True)
class MatchReport:
    """Per pass, in order, against the subgraph's source. rewritten: the graph afterwards, as Python source."""

    passes: tuple[PassMatches, ...]
    rewritten: str | None = None

    @property
    def count(self) -> int:
        return sum(len(each.matches) for each in self.passes)


MOST_CELLS = 4096
"""Of a map of errors."""


@dataclass(frozen=True)
class Neighbourhood:
    """The elements around one of an output, row by row along its last two axes. first: the index of the first one.

    wrong: which of them are.
    """

    first: tuple[int, ...]
    expected: tuple[tuple[float, ...], ...]
    actual: tuple[tuple[float, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]

    def __post_init__(self) -> None:
        widths = {len(row) for table in (self.expected, self.actual, self.wrong) for row in table}
        if len(widths) != 1 or not len(self.expected) == len(self.actual) == len(self.wrong):
            raise ValueError("The tables of a neighbourhood are of one size.")


@dataclass(frozen=True)
class ErrorMap:
    """Where an output is wrong, and what its errors have in common, in the drawing in which it is worst.

    The output is laid out as a table: its columns run over the axes from `axis` on, its rows over those before. Of the
    table's cells, `rows` times `columns` and each as large as the others but for the last ones, `cells` has the largest
    error over what is allowed there, row by row, in two digits: above 1 is wrong, infinity is a NaN or an infinity that
    should not be, or should. Whole numbers may be off by less than one half.
    """

    axis: int
    rows: int
    columns: int
    cells: tuple[float, ...]
    wrong: int
    """How many elements are."""
    spans: tuple[tuple[int, int], ...]
    """Per axis, the first place at which some element is wrong, and one past the last."""
    flat: tuple[int, int]
    """The same of the elements one after the other."""
    core: tuple[tuple[int, int], ...] | None = None
    """The same of a much smaller part that holds nearly all of them, or the largest errors; core_wrong: how many."""
    core_wrong: int = 0
    value: float | None = None
    """What all wrong elements are, of the core if there is one, where they are one value."""
    factor: float | None = None
    """What nearly all of them are multiplied by."""
    offset: float | None = None
    """By what nearly all of them are off."""
    relative: float | None = None
    """The median of their errors over what is expected."""
    large_from: float | None = None
    """Nearly all elements that are expected to be so large are wrong, and hardly any smaller one."""
    rearranged: bool = False
    """The output has the right values, in other places."""
    around: Neighbourhood | None = None
    """The worst element's."""

    def __post_init__(self) -> None:
        if not 0 < len(self.cells) == self.rows * self.columns <= MOST_CELLS or self.rows < 0 or self.wrong < 1:
            raise ValueError("A map has a number for each of its cells, and some element is wrong.")

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether it can be the map of an output of this shape."""
        bounds = [self.spans, *([self.core] if self.core is not None else [])]
        inside = all(
            len(each) == len(shape) and all(0 <= begin < end <= size for (begin, end), size in zip(each, shape))
            for each in bounds
        )
        ranks = len(self.around.first) == len(shape) if self.around is not None else True
        height, width = math.prod(shape[: self.axis]), math.prod(shape[self.axis :])
        return inside and ranks and 0 <= self.axis <= len(shape) and self.rows <= height and self.columns <= width


@dataclass(frozen=True)
class OutputAccuracy:
    """How one output compares with eager, over all drawings.

    smallest_t: the smallest t from -10 to 0 at which every drawing is close, None: not even at 0.
    correct_at: every t in LEVELS at which every drawing is close. Errors are absolute; None where they have no meaning.
    index: of the worst element; profile: the drawing it was in, and verdict what that alone would mean. wrong_in: the
    drawings in which it is wrong or imprecise.
    """

    output: int
    shape: tuple[int, ...]
    dtype: str
    smallest_t: int | None
    correct_at: tuple[int, ...]
    max_error: float | None
    mean_error: float | None
    index: tuple[int, ...] | None = None
    expected: float | None = None
    actual: float | None = None
    profile: str = ""
    wrong_fraction: float = 0.0
    problem: str = ""
    verdict: Verdict | None = None
    wrong_in: tuple[str, ...] = ()
    map: ErrorMap | None = None

    def __post_init__(self) -> None:
        if self.map is not None and not self.map.fits(self.shape):
            raise ValueError(f"The map is not that of an output of the shape {list(self.shape)}.")


@dataclass(frozen=True)
class Accuracy:
    outputs: tuple[OutputAccuracy, ...]
    profiles: tuple[str, ...]
    """The drawings that were compared."""
    reduced: str = ""
    """Why and to what sizes the inputs were reduced; empty: recorded sizes."""

    def correct_at(self, t: int) -> bool:
        return all(t in output.correct_at for output in self.outputs)

    @property
    def smallest_t(self) -> int | None:
        levels = [output.smallest_t for output in self.outputs]
        known = [t for t in levels if t is not None]
        return max(known) if known and len(known) == len(levels) else None


@dataclass(frozen=True)
class Timing:
    """One contender on one clock: raw samples in microseconds per call, block after block, and their median."""

    contender: Contender
    clock: Clock
    samples: tuple[float, ...]
    blocks: int
    median: float


@dataclass(frozen=True)
class Speedup:
    """Eager time over the contender's, dimensionless: median of block ratios with a bootstrap 95% interval."""

    contender: Contender
    clock: Clock
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Environment:
    """Where an outcome was made. A stored outcome answers again only for an equal environment."""

    device: str
    driver: str
    python: str
    torch: str
    triton: str
    isolation: Isolation
    judge_digest: str
    platform: str = ""

    @cached_property
    def digest(self) -> str:
        return digest_of(to_json(self))


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
class Accelerator:
    """What a GPU is, by its driver. bytes_per_us: what a copy on it moves, read and written, measured once."""

    capability: str
    """Of its architecture: "9.0"."""
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    bytes_per_us: float


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


LAUNCHED = "kernels launched"
NOISE_FLOOR = "noise floor"
TIMED_CALLS = "timed calls"
OWN_CLOCK = "the judge's own clock"
"""Topics of evidence that others look for, these and the two below."""
MEMORY_FLOOR = "memory floor"
"""Topic whose figures are moved_bytes, of all inputs and outputs, and bytes_per_us, of a copy on the device."""
REPLAY = "replay of a captured graph"
"""Topic whose figures are microseconds, for each contender whose call could be captured."""


@dataclass(frozen=True)
class Evidence:
    """One fact behind a verdict: what was looked at, and what was seen. figures: by name, where the topic has any."""

    topic: str
    text: str
    figures: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The one answer to a job. The verdict decides which fields exist; impossible combinations cannot be built."""

    job_digest: str
    task_id: str
    subgraph_id: str
    subgraph_digest: str
    dtype: str
    solver: Solver
    bundle_digest: str | None
    spec: EvalSpec
    verdict: Verdict
    reason: str
    environment: Environment | None
    wall_s: float
    finished_at: str
    """UTC, ISO 8601."""
    findings: tuple[Finding, ...] = ()
    match: MatchReport | None = None
    accuracy: Accuracy | None = None
    timings: tuple[Timing, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    noise: float | None = None
    """By what share eager may differ from itself, end to end: the farther end of that ratio's 95% interval."""
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    log_tail: str = ""

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ValueError(f"Impossible outcome, {self.verdict.value!r}: {problem}.")

    def _problem(self) -> str:
        verdict = self.verdict
        if not self.reason:
            return "no reason"
        if (self.bundle_digest is None) != (self.solver is Solver.INDUCTOR):
            return "a bundle digest belongs to passes, and only to them"
        if verdict is Verdict.REJECTED and not any(finding.fatal for finding in self.findings):
            return "rejected without a fatal finding"
        if verdict is Verdict.NO_MATCH and (self.match is None or self.match.count):
            return "no match needs a match report without matches"
        if verdict is Verdict.MATCHED and (self.match is None or not self.match.count):
            return "a match needs matches"
        if verdict in RIGHT | WRONG and self.accuracy is None:
            return "values were judged without accuracy"
        if verdict in RIGHT and self.solver is Solver.PASSES and (self.match is None or not self.match.count):
            return "passes were accepted without a match"
        if (verdict in TIMED) != bool(self.speedups):
            return "speedups belong to timed verdicts, and only to them"
        if verdict.judged and self.environment is None:
            return "no environment"
        return ""

    @property
    def error_class(self) -> ErrorClass | None:
        return ERROR_CLASS[self.verdict]

    def speedup(self, clock: Clock = Clock.END_TO_END, contender: Contender | None = None) -> Speedup | None:
        """Of the solver itself unless another contender is named."""
        who = contender or (Contender.BASELINE if self.solver is Solver.INDUCTOR else Contender.PASSES)
        return next((each for each in self.speedups if each.clock is clock and each.contender is who), None)

    def figures(self, topic: str) -> Mapping[str, float]:
        """Of the evidence on that topic."""
        return {name: value for each in self.evidence if each.topic == topic for name, value in each.figures}

    def timing(self, contender: Contender, clock: Clock) -> Timing | None:
        return next((each for each in self.timings if each.contender is contender and each.clock is clock), None)


@dataclass(frozen=True)
class Run:
    """What was asked at one time: a solver on subgraphs of one or more tasks. recorded: loaded from a data file."""

    id: str
    label: str
    started_at: str
    solver: Solver
    bundle_digest: str | None
    spec: EvalSpec
    task_ids: tuple[str, ...]
    job_digests: tuple[str, ...]
    recorded: str = ""
    """Where and when it was recorded; empty: made here."""


# --- JSON ------------------------------------------------------------------------------------------------------------


PLAIN = frozenset({str, int, bool, type(None)})
"""What JSON has as it is: most of every record."""


def to_json(value: Any) -> Any:
    """A record as JSON-ready data: dataclasses become objects, enums their values, tuples lists; NaN stays a string."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else repr(value)
    names = _names(typing.cast(Any, kind))
    if names is not None:
        return {name: each if type(each := getattr(value, name)) in PLAIN else to_json(each) for name in names}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        # raw samples are most of every outcome
        if {*map(type, value)} == {float} and all(map(math.isfinite, value)):
            return list(value)
        return [to_json(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    return value


def from_json(kind: type[T], data: Any) -> T:
    """The record of this kind; raises BadInput naming the field that does not fit. Unknown fields are refused."""
    try:
        return typing.cast(T, _reader(typing.cast(Any, kind))(data))
    except _Unfit as unfit:
        raise BadInput(f"{kind.__name__}{unfit.place} {unfit}") from None
    except (TypeError, ValueError, KeyError) as error:
        raise BadInput(f"This is not a {kind.__name__}: {error}") from error


Reader = Callable[[Any], Any]


class _Unfit(Exception):
    """Data that does not fit. place: where in the record, known once the error has come out of it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.place = ""


@cache
def _reader(kind: Any) -> Reader:
    """What makes a value of this kind of JSON data, or raises _Unfit. Made once for each kind: reading is most of what
    thousands of recorded outcomes take."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(kind)
        read = _reader(next(option for option in options if option is not type(None)))
        return (lambda data: None if data is None else read(data)) if type(None) in options else read
    if origin is tuple:
        items = typing.get_args(kind)
        return _list_reader(items[0]) if items[-1] is Ellipsis else _tuple_reader(items)
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    if kind is Any:
        return lambda data: data
    if kind is float:
        return _read_number
    return _enum_reader(kind) if issubclass(kind, StrEnum) else _plain_reader(kind)


def _record_reader(kind: Any) -> Reader:
    readers = {name: _reader(of) for name, (of, _) in _fields(kind).items()}
    needed = [name for name, (_, must) in _fields(kind).items() if must]

    def read(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _Unfit(f"must be an object, not {type(data).__name__}.")
        if not data.keys() <= readers.keys():
            raise _Unfit(f"has an unknown field {min(set(data) - set(readers))!r}.")
        for name in needed:
            if name not in data:
                raise _Unfit(f"lacks the field {name!r}.")
        given = {}
        try:
            for name, each in data.items():
                given[name] = readers[name](each)
        except _Unfit as unfit:
            unfit.place = f".{name}{unfit.place}"
            raise
        return kind(**given)

    return read


def _list_reader(kind: Any) -> Reader:
    read_item = _reader(kind)
    # raw samples are most of every outcome
    as_they_are = {kind} if kind in (float, int, str) else set()

    def read(data: Any) -> Any:
        if not isinstance(data, list):
            raise _Unfit(f"must be a list, not {type(data).__name__}.")
        return tuple(data) if {*map(type, data)} <= as_they_are else _items((read_item,) * len(data), data)

    return read


def _tuple_reader(kinds: Sequence[Any]) -> Reader:
    readers = [_reader(kind) for kind in kinds]

    def read(data: Any) -> Any:
        if not isinstance(data, list):
            raise _Unfit(f"must be a list, not {type(data).__name__}.")
        if len(readers) != len(data):
            raise _Unfit(f"must have {len(readers)} items, not {len(data)}.")
        return _items(readers, data)

    return read


def _items(readers: Sequence[Reader], data: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    try:
        for read, each in zip(readers, data):
            found.append(read(each))
    except _Unfit as unfit:
        unfit.place = f"[{len(found)}]{unfit.place}"
        raise
    return tuple(found)


def _enum_reader(kind: type[StrEnum]) -> Reader:
    def read(data: Any) -> StrEnum:
        try:
            return kind(data)
        except ValueError:
            raise _Unfit(f"is {data!r}, not one of {', '.join(each.value for each in kind)}.") from None

    return read


def _read_number(data: Any) -> float:
    if type(data) is float:
        return data
    if isinstance(data, bool) or not isinstance(data, int | float | str):
        raise _Unfit(f"must be a number, not {data!r}.")
    if isinstance(data, str) and data not in ("nan", "inf", "-inf"):
        raise _Unfit(f"must be a number, not {data!r}.")
    return float(data)


def _plain_reader(kind: type) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is kind or (isinstance(data, kind) and not (kind is int and isinstance(data, bool))):
            return data
        raise _Unfit(f"must be {kind.__name__}, not {data!r}.")

    return read


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass, of anything else None."""
    return tuple(each.name for each in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


@cache
def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Of each field of a dataclass its type, and whether it must be given."""
    hints = typing.get_type_hints(kind)
    return {
        each.name: (
            hints[each.name],
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(kind)
    }


def digest_of(data: Any) -> str:
    """Twenty hexadecimal characters of the SHA-256 of the data's canonical JSON."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def whole(data: Any) -> Any:
    """The data with every float that is a whole number as an integer: JSON and people write 240.0 as 240."""
    if isinstance(data, float) and data.is_integer():
        return int(data)
    if isinstance(data, list | tuple):
        return [whole(each) for each in data]
    if isinstance(data, Mapping):
        return {key: whole(each) for key, each in data.items()}
    return data
