"""Closed lists of words: how far and by whose rules a job is judged, what the judge says, whose time it is."""

from collections.abc import Mapping
from enum import StrEnum


class Stage(StrEnum):
    """How far a job goes. Each stage includes those before it."""

    CHECK = "check"
    """Static rules and matching."""
    VERIFY = "verify"
    """Values, compared with eager at every t."""
    MEASURE = "measure"
    """Time, on three clocks."""


class Phase(StrEnum):
    """Where a job under way is, as those who wait for it hear."""

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
    """No phase of its own: the candidate has printed something."""


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


class SolverKind(StrEnum):
    """What runs against eager."""

    PASSES = "passes"
    INDUCTOR = "inductor"

    @property
    def contender(self) -> "Contender":
        """Whose time its own is."""
        return Contender.BASELINE if self is SolverKind.INDUCTOR else Contender.PASSES


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
        return self not in UNJUDGED


# the basic classes: each verdict is in exactly one
UNJUDGED = frozenset({Verdict.INFRASTRUCTURE, Verdict.CANCELLED})
"""They say nothing about the candidate."""
UNLOADED = frozenset({Verdict.REJECTED, Verdict.DOES_NOT_LOAD})
"""The bundle was not taken in."""
UNREPLACED = frozenset({Verdict.NO_MATCH, Verdict.REWRITE_FAILED})
"""The bundle was taken in, but the subgraph stayed as it is."""
BROKEN = frozenset({Verdict.EAGER_FAILED, Verdict.COMPILE_FAILED, Verdict.CRASHED, Verdict.TIMED_OUT})
"""Nothing came out that could be compared."""
WRONG = frozenset(
    {Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE, Verdict.NON_FINITE, Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION}
)
"""What came out is not what eager gives."""
DISQUALIFIED = frozenset({Verdict.CHEAT, Verdict.LIBRARY})
"""What came out may be right, but is not ranked: the passes themselves did not do it, or not as claimed."""
ONLY_CHECKED = frozenset({Verdict.MATCHED})
"""Accepted before any value was computed."""
UNTIMED = frozenset({Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE})
"""Right, without times that can be relied on."""
TIMED = frozenset({Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.FASTER})
"""Right, with times that can be relied on."""
BASIC_CLASSES = (UNJUDGED, UNLOADED, UNREPLACED, BROKEN, WRONG, DISQUALIFIED, ONLY_CHECKED, UNTIMED, TIMED)

RIGHT = TIMED | UNTIMED
"""The values are eager's."""
ACCEPTED = RIGHT | ONLY_CHECKED
"""As good as the stage that was asked for can tell."""
RESTS_ON_EVIDENCE = DISQUALIFIED | {Verdict.INCONCLUSIVE}
"""Told together with all their evidence: nobody need believe them without."""
REUSED = frozenset(Verdict) - UNJUDGED - {Verdict.TIMED_OUT, Verdict.CRASHED, Verdict.INCONCLUSIVE}
"""Known answers that hold again: a timeout, a crash or an unsteady figure may have been the machine's load."""


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


CONTENDER_NAMES: Mapping[Contender, str] = {
    Contender.EAGER: "eager",
    Contender.BASELINE: "TorchInductor",
    Contender.PASSES: "passes",
}
"""As people read them."""
CONTENDER_KEYS: Mapping[str, str] = {Contender.EAGER: "eager", Contender.BASELINE: "baseline", Contender.PASSES: "pass"}
"""As the published form of outcomes has them."""


class Family(StrEnum):
    SINGLE = "single-operator"
    FUSIBLE = "fusible"
    TYPICAL = "typical"
