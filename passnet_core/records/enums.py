"""Enumerations: stages, profiles, verdicts, failure classes, clocks and contenders. Their values are stored."""

from collections.abc import Mapping
from enum import StrEnum


class Stage(StrEnum):
    """How far a job goes. Each stage includes the ones before it."""

    CHECK = "check"
    """Apply the static rules and match the patterns."""
    VERIFY = "verify"
    """Also compare the values with eager's at every t."""
    MEASURE = "measure"
    """Also time the calls, on every clock."""


class Phase(StrEnum):
    """The step that a running job has reached, as reported to whoever waits for it."""

    QUEUED = "queued"
    START = "start"
    RULES = "rules"
    LOAD = "load"
    MATCH = "match"
    REWRITE = "rewrite"
    VERIFY = "verify"
    CENSUS = "census"
    MEASURE = "measure"
    LOG = "log"
    """Not a step: reports that the candidate has printed something."""


class Capture(StrEnum):
    """How the rewritten graph is called."""

    COMPILED = "compiled"
    """Through torch.compile with a backend that rewrites the graph: the time includes Dynamo's guards."""
    DIRECT = "direct"
    """As a plain graph module, without torch.compile."""


class Profile(StrEnum):
    """The set of rules by which a job is judged."""

    PASSNET = "passnet"
    """PassNet's rules: inputs as recorded, PassNet's protocol and static rule, at most one replacement function."""
    STRICT = "strict"
    """All checks of this judge: harder input draws, checked calls, negative controls, the kernel census."""

    @classmethod
    def _missing_(cls, value: object) -> "Profile | None":
        # files written when a profile chose only the inputs call it "recorded"
        return cls.PASSNET if value == "recorded" else None


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


class SolverKind(StrEnum):
    """What a job compares with eager: the passes of a bundle, or TorchInductor."""

    PASSES = "passes"
    INDUCTOR = "inductor"

    @property
    def contender(self) -> "Contender":
        """The contender whose clock readings count for this kind of solver."""
        return Contender.BASELINE if self is SolverKind.INDUCTOR else Contender.PASSES


class Isolation(StrEnum):
    """How candidate code is kept apart from the system."""

    SANDBOXED = "sandboxed"
    """Bubblewrap gives it namespaces of its own, a read-only system and resource limits."""
    PROCESS = "process"
    """It has the same resource limits, but no namespaces of its own."""


class Verdict(StrEnum):
    """The judge's answer to one job. Where several apply, the first in this order counts."""

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
    """Another number of outputs, or another type, dtype or device."""
    WRONG_SHAPE = "wrong shape"
    NON_FINITE = "wrong NaN or infinity"
    WRONG_VALUES = "wrong values"
    LOWER_PRECISION = "lower precision"
    """Within tolerance, but less precise than the dtype and eager's own error warrant."""
    CHEAT = "cheat"
    """There is evidence that a value or a time did not come about as claimed."""
    LIBRARY = "library"
    """Library kernels did the work instead of the bundle's own kernels: shown, but not ranked."""
    NEEDS_GPU = "needs a GPU"
    """A kernel uses what only a GPU can run, and the judge has none: nothing is known of its values."""
    MATCHED = "matches"
    """The passes match. CHECK computes no values."""
    VALUES_ONLY = "right, not timed"
    INCONCLUSIVE = "right, inconclusive"
    """Timed, but the machine was too unsteady or the subgraph allows no conclusion; the reason says which."""
    SLOWER = "right, slower"
    NO_DIFFERENCE = "right, no measurable difference"
    FASTER = "right, faster"

    @property
    def accepted(self) -> bool:
        return self in ACCEPTED

    @property
    def judged(self) -> bool:
        """Whether the verdict says something about the candidate."""
        return self not in UNJUDGED


# the basic classes: each verdict is in exactly one
UNJUDGED = frozenset({Verdict.INFRASTRUCTURE, Verdict.CANCELLED})
"""The verdict says nothing about the candidate."""
UNLOADED = frozenset({Verdict.REJECTED, Verdict.DOES_NOT_LOAD})
"""The bundle was not loaded."""
UNREPLACED = frozenset({Verdict.NO_MATCH, Verdict.REWRITE_FAILED})
"""The bundle was loaded, but the subgraph was not rewritten."""
BROKEN = frozenset({Verdict.EAGER_FAILED, Verdict.COMPILE_FAILED, Verdict.CRASHED, Verdict.TIMED_OUT})
"""There were no outputs to compare."""
WRONG = frozenset(
    {Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.NON_FINITE, Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION}
)
"""The outputs differ from eager's."""
DISQUALIFIED = frozenset({Verdict.CHEAT, Verdict.LIBRARY})
"""The outputs may be right, but are not ranked: the passes did not compute them themselves, or not as claimed."""
UNDECIDED = frozenset({Verdict.NEEDS_GPU})
"""The passes match, but this machine cannot run them: neither a failure nor an acceptance."""
ONLY_CHECKED = frozenset({Verdict.MATCHED})
"""The bundle was accepted, but no value was computed."""
UNTIMED = frozenset({Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE})
"""The outputs are right, without reliable times."""
TIMED = frozenset({Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.FASTER})
"""The outputs are right, with reliable times."""
BASIC_CLASSES = (UNJUDGED, UNLOADED, UNREPLACED, BROKEN, WRONG, DISQUALIFIED, UNDECIDED, ONLY_CHECKED, UNTIMED, TIMED)

RIGHT = TIMED | UNTIMED
"""The outputs agree with eager's."""
ACCEPTED = RIGHT | ONLY_CHECKED
"""The candidate passed every check of the requested stage."""
RESTS_ON_EVIDENCE = DISQUALIFIED | {Verdict.INCONCLUSIVE}
"""Always shown with all their evidence, so that nobody has to take them on trust."""
REUSED = frozenset(Verdict) - UNJUDGED - {Verdict.TIMED_OUT, Verdict.CRASHED, Verdict.INCONCLUSIVE}
"""A stored outcome with one of these answers an equal job again. The others may have come from the machine's load."""


class ErrorClass(StrEnum):
    """GraphNet's classes of failure. ES(t) tolerates each from another level t on."""

    ACCURACY = "accuracy"
    TYPE = "type"
    """A wrong NaN or infinity, or another type or shape."""
    RUNTIME = "runtime"
    COMPILE = "compile"
    CHEAT = "cheat"
    """Never tolerated."""
    EAGER = "eager"
    """Eager itself failed. Never tolerated."""


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
    Verdict.NEEDS_GPU: None,
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
    """The ways of timing a call. Every clock gives microseconds per call."""

    END_TO_END = "end to end"
    """The host's clock, around the call and a device synchronisation."""
    EVENT = "event"
    """CUDA events around the call; PassNet calls this time "gpu"."""
    COLD = "event, cold"
    """CUDA events around a call that begins with an empty L2 cache."""
    KERNEL = "kernel"
    """The sum of the kernels' durations in the device trace."""


class Contender(StrEnum):
    """Whoever is timed."""

    EAGER = "eager"
    BASELINE = "inductor"
    PASSES = "passes"


CONTENDER_NAMES: Mapping[Contender, str] = {
    Contender.EAGER: "eager",
    Contender.BASELINE: "TorchInductor",
    Contender.PASSES: "passes",
}
"""The contenders' names in texts for people."""


class Baseline(StrEnum):
    """The ways in which TorchInductor compiles a subgraph that it is the baseline or the solver of."""

    INDUCTOR = "inductor"
    """As it does by default: half-precision intermediates inside a kernel are not rounded."""
    EAGER_ROUNDING = "inductor-eager-rounding"
    """With emulate_precision_casts: every intermediate is rounded as eager rounds it."""


BASELINE_NAMES: Mapping[Baseline, str] = {
    Baseline.INDUCTOR: CONTENDER_NAMES[Contender.BASELINE],
    Baseline.EAGER_ROUNDING: f"{CONTENDER_NAMES[Contender.BASELINE]} with eager's rounding",
}
"""The baselines' names in texts for people."""


def contender_names(baseline: Baseline) -> Mapping[Contender, str]:
    """Return the contenders' names in texts for people where this is the baseline."""
    return {**CONTENDER_NAMES, Contender.BASELINE: BASELINE_NAMES[baseline]}


CONTENDER_KEYS: Mapping[str, str] = {Contender.EAGER: "eager", Contender.BASELINE: "baseline", Contender.PASSES: "pass"}
"""The contenders' names in the published form of outcomes."""


class Family(StrEnum):
    """The kind of task, by how much of a model its subgraphs are."""

    SINGLE = "single-operator"
    FUSIBLE = "fusible"
    TYPICAL = "typical"
