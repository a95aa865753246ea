"""The records that all parts of the package exchange: frozen dataclasses, with their JSON form and digests."""

from passnet_core.records.accuracy import (
    BEYOND,
    LEVELS,
    LEVELS_SAID,
    LOOSEST,
    MOST_CELLS,
    Accuracy,
    ErrorMap,
    FailedInputs,
    Neighbourhood,
    OutputAccuracy,
    base_set,
    counted,
    level_of,
    percent,
)
from passnet_core.records.bundles import Bundle, Finding, PassFile
from passnet_core.records.codec import digest_of, from_json, to_json, whole
from passnet_core.records.enums import (
    ACCEPTED,
    BASELINE_NAMES,
    BASIC_CLASSES,
    BROKEN,
    CONTENDER_KEYS,
    CONTENDER_NAMES,
    DISQUALIFIED,
    ERROR_CLASS,
    ONLY_CHECKED,
    RESTS_ON_EVIDENCE,
    REUSED,
    RIGHT,
    TIMED,
    UNDECIDED,
    UNJUDGED,
    UNLOADED,
    UNREPLACED,
    UNTIMED,
    WRONG,
    Baseline,
    Capture,
    Clock,
    Contender,
    Device,
    ErrorClass,
    Family,
    Isolation,
    MissKind,
    Phase,
    Profile,
    SolverKind,
    Stage,
    Verdict,
    contender_names,
)
from passnet_core.records.inspections import (
    AccessKind,
    CompiledKernel,
    InductorCode,
    Inspection,
    MemoryAccess,
    NodeValue,
    PassKernels,
    PassTrace,
    TensorForm,
    TracedLaunch,
    TracedProgram,
    TracedTensor,
)
from passnet_core.records.jobs import EvalSpec, Job
from passnet_core.records.machines import Accelerator, Environment
from passnet_core.records.matching import (
    Difference,
    LineChange,
    MatchAttempt,
    MatchReport,
    NearestMiss,
    Pairing,
    PassMatches,
    PatternEdit,
)
from passnet_core.records.outcomes import (
    EXECUTED,
    LAUNCHED,
    MEMORY_FLOOR,
    NOISE_FLOOR,
    REPLAY,
    TIMED_CALLS,
    Evidence,
    Outcome,
)
from passnet_core.records.runs import Run
from passnet_core.records.tasks import JudgedSubgraph, Subgraph, Task, TensorSpec
from passnet_core.records.timing import CLOCK_VERSION, Speedup, Timing

__all__ = [
    "ACCEPTED", "BASELINE_NAMES", "BASIC_CLASSES", "BEYOND", "BROKEN", "CLOCK_VERSION", "CONTENDER_KEYS",
    "CONTENDER_NAMES", "DISQUALIFIED", "ERROR_CLASS", "EXECUTED", "LAUNCHED", "LEVELS", "LEVELS_SAID", "LOOSEST",
    "MEMORY_FLOOR", "MOST_CELLS", "NOISE_FLOOR", "ONLY_CHECKED", "REPLAY", "RESTS_ON_EVIDENCE",
    "REUSED", "RIGHT", "TIMED", "TIMED_CALLS", "UNDECIDED", "UNJUDGED", "UNLOADED", "UNREPLACED", "UNTIMED",
    "WRONG", "Accelerator", "AccessKind", "Accuracy", "Baseline", "Bundle", "Capture", "Clock", "CompiledKernel",
    "Contender", "Device", "Difference", "Environment", "ErrorClass", "ErrorMap", "EvalSpec", "Evidence",
    "FailedInputs", "Family", "Finding", "InductorCode", "Inspection", "Isolation", "Job", "JudgedSubgraph",
    "LineChange", "MatchAttempt", "MatchReport", "MemoryAccess", "MissKind", "NearestMiss", "Neighbourhood",
    "NodeValue", "Outcome", "OutputAccuracy", "Pairing", "PassFile", "PassKernels", "PassMatches", "PassTrace",
    "PatternEdit", "Phase", "Profile", "Run", "SolverKind", "Speedup", "Stage", "Subgraph", "Task", "TensorForm",
    "TensorSpec", "Timing", "TracedLaunch", "TracedProgram", "TracedTensor", "Verdict", "base_set",
    "contender_names", "counted", "digest_of", "from_json", "level_of", "percent", "to_json", "whole",
]  # fmt: skip
