"""The differences between two runs, subgraph by subgraph, between two bundles, and between two graphs."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Clock, Contender, Environment, EvalSpec, Outcome, OutputAccuracy


class Change(StrEnum):
    """How the outcome of a subgraph changed from one run ("before", on pages "then") to another ("after", "now")."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no measurable difference"
    """The intervals of both speedups overlap."""
    NOW_ACCEPTED = "now accepted"
    NO_LONGER_ACCEPTED = "no longer accepted"
    OTHER_VERDICT = "another verdict"
    SAME_VERDICT = "the same verdict"
    """And the speedups cannot be compared: one of them is missing, or their times were taken in different ways."""
    OTHER_SUBGRAPH = "another subgraph of that name"
    ONLY_BEFORE = "judged only then"
    ONLY_AFTER = "judged only now"


@dataclass(frozen=True)
class OutcomePair:
    """The outcomes of one subgraph in two runs; None: the run did not judge it."""

    task_id: str
    subgraph_id: str
    before: Outcome | None
    after: Outcome | None

    @property
    def change(self) -> Change:
        if self.after is None:
            return Change.ONLY_BEFORE
        if self.before is None:
            return Change.ONLY_AFTER
        if self.before.subgraph_digest != self.after.subgraph_digest:
            return Change.OTHER_SUBGRAPH
        faster = speed_change(self.before, self.after, Clock.END_TO_END)
        if faster is not None:
            return faster
        if self.before.verdict.accepted != self.after.verdict.accepted:
            return Change.NOW_ACCEPTED if self.after.verdict.accepted else Change.NO_LONGER_ACCEPTED
        return Change.SAME_VERDICT if self.before.verdict is self.after.verdict else Change.OTHER_VERDICT

    @property
    def ratio(self) -> float | None:
        """The speedup after divided by the speedup before, end to end; None: not both were timed by the same clock
        version."""
        if self.before is None or self.after is None or self.change is Change.OTHER_SUBGRAPH:
            return None
        return speed_ratio(self.before, self.after, Clock.END_TO_END)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The properties in which the environments differ. If there are any, the times are not comparable."""
        old, new = (outcome.environment if outcome else None for outcome in (self.before, self.after))
        if old is None or new is None:
            return ()
        return tuple(row.what for row in environment_rows(old, new) if row.differs)


def same_clock(before: Outcome, after: Outcome) -> bool:
    """Whether the times of both were taken in the same way, so that they can be compared."""
    versions = {each.environment.clock_version for each in (before, after) if each.environment is not None}
    return len(versions) < 2


def speed_change(before: Outcome, after: Outcome, clock: Clock) -> Change | None:
    """Compare two speedups by their 95% intervals; None: one of them is missing, or they are not comparable."""
    old, new = before.speedup(clock), after.speedup(clock)
    if old is None or new is None or not same_clock(before, after):
        return None
    if new.low > old.high:
        return Change.FASTER
    return Change.SLOWER if new.high < old.low else Change.NO_DIFFERENCE


def speed_ratio(before: Outcome, after: Outcome, clock: Clock) -> float | None:
    """Return the speedup after divided by the speedup before; None: one of them is missing or not positive, or they are
    not comparable."""
    old, new = before.speedup(clock), after.speedup(clock)
    return new.value / old.value if old and new and old.value > 0 and same_clock(before, after) else None


def pairs(before: Iterable[Outcome], after: Iterable[Outcome]) -> tuple[OutcomePair, ...]:
    """Pair the outcomes of every subgraph: first those of the run after, in its order, then the others."""
    olds = {(each.task_id, each.subgraph_id): each for each in before}
    news = {(each.task_id, each.subgraph_id): each for each in after}
    return tuple(OutcomePair(*place, olds.get(place), news.get(place)) for place in dict.fromkeys((*news, *olds)))


def counted(found: Iterable[OutcomePair]) -> tuple[tuple[Change, int], ...]:
    """Count the changes, in the order of Change; those that do not occur are left out."""
    numbers = Counter(each.change for each in found)
    return tuple((change, numbers[change]) for change in Change if numbers[change])


# --- code ------------------------------------------------------------------------------------------------------------


class Fate(StrEnum):
    """How a file changed between two bundles."""

    SAME = "identical"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class FileChange:
    """One file in two bundles. diff: unified, without file names; empty if the file is the same in both."""

    name: str
    fate: Fate
    diff: str


def file_changes(before: Bundle | None, after: Bundle | None) -> tuple[FileChange, ...]:
    """Compare every file of two bundles; files that differ come first. None, for TorchInductor, has no files."""
    olds = {file.name: file.code for file in (before.files if before else ())}
    news = {file.name: file.code for file in (after.files if after else ())}
    found = [_file_change(name, olds.get(name), news.get(name)) for name in dict.fromkeys((*news, *olds))]
    return tuple(sorted(found, key=lambda each: each.fate is Fate.SAME))


def _file_change(name: str, old: str | None, new: str | None) -> FileChange:
    if old == new:
        return FileChange(name, Fate.SAME, "")
    fate = Fate.ADDED if old is None else Fate.REMOVED if new is None else Fate.CHANGED
    return FileChange(name, fate, diff_of(old or "", new or ""))


def diff_of(old: str, new: str) -> str:
    """Return a unified diff without file names, or a note if only line endings differ; "" for equal texts."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm=""))[2:]
    if not lines and old != new:
        return "@@ only the ends of lines differ @@"
    return "\n".join(lines)


def order_changed(before: Bundle | None, after: Bundle | None) -> bool:
    """Whether the passes that both bundles have are in a different order."""
    olds = [file.name for file in (before.passes if before else ())]
    news = [file.name for file in (after.passes if after else ())]
    return [name for name in olds if name in news] != [name for name in news if name in olds]


def only_in(graph: Graph, other: Graph) -> set[str]:
    """Return the operations of a graph that the other lacks, compared by name and target: a rewrite may reuse names."""
    return {
        node.name
        for node in graph.operations
        if node.name not in other.by_name or other.by_name[node.name].target != node.target
    }


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClockChange:
    """The outcomes of a subgraph in two runs, seen on one clock."""

    clock: Clock
    before: Outcome
    after: Outcome

    @property
    def ratio(self) -> float | None:
        """As speed_ratio."""
        return speed_ratio(self.before, self.after, self.clock)

    @property
    def change(self) -> Change | None:
        return speed_change(self.before, self.after, self.clock)


def clock_changes(before: Outcome, after: Outcome) -> tuple[ClockChange, ...]:
    """Return one entry for each clock that at least one of the two was timed on."""
    timed = {each.clock for outcome in (before, after) for each in outcome.timings}
    return tuple(ClockChange(clock, before, after) for clock in Clock if clock in timed)


@dataclass(frozen=True)
class OutputChange:
    """One output in two runs; None: the run did not compare it."""

    output: int
    before: OutputAccuracy | None
    after: OutputAccuracy | None

    @property
    def words(self) -> str:
        """Whether the output came closer to eager: a smaller smallest t is closer."""
        if self.before is None or self.after is None:
            return "compared in one run only"
        old, new = self.before.smallest_t, self.after.smallest_t
        if old == new:
            return "the same level"
        if old is None or new is None:
            return "now close" if old is None else "no longer close"
        return "closer" if new < old else "less close"


def output_changes(before: Outcome, after: Outcome) -> tuple[OutputChange, ...]:
    """Return one entry for each output that at least one of the two runs compared."""
    olds, news = _outputs(before), _outputs(after)
    return tuple(OutputChange(output, olds.get(output), news.get(output)) for output in sorted({*olds, *news}))


def _outputs(outcome: Outcome) -> dict[int, OutputAccuracy]:
    return {each.output: each for each in (outcome.accuracy.outputs if outcome.accuracy else ())}


# --- specs and environments ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One property of two specs or environments, in words; "–": it has none."""

    what: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        return self.before != self.after


def environment_rows(before: Environment | None, after: Environment | None) -> tuple[Row, ...]:
    """Compare two environments property by property; a property that both lack is left out."""
    named = _named(environment_facts(before), environment_facts(after))
    return tuple(row for row in named if (row.before, row.after) != ("–", "–"))


def spec_rows(before: EvalSpec, after: EvalSpec) -> tuple[Row, ...]:
    """Compare two specs property by property."""
    return _named(spec_facts(before), spec_facts(after))


def _named(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> tuple[Row, ...]:
    return tuple(Row(what, old or "–", new or "–") for (what, old), (_, new) in zip(before, after))


def environment_facts(of: Environment | None) -> list[tuple[str, str]]:
    """Return an environment's properties as (name, text); all texts are empty without an environment."""
    return [
        ("device", of.device if of else ""),
        ("driver", of.driver if of else ""),
        ("Python", of.python if of else ""),
        ("torch", of.torch if of else ""),
        ("triton", of.triton if of else ""),
        ("isolation", of.isolation.value if of else ""),
        ("judge", of.judge_digest if of else ""),
        ("platform", of.platform if of else ""),
        ("clock version", str(of.clock_version) if of else ""),
    ]


def spec_facts(of: EvalSpec) -> list[tuple[str, str]]:
    """Return the properties of a spec as (name, text)."""
    return [
        ("stage", of.stage.value),
        ("requested device", of.device.value),
        ("capture", of.capture.value),
        ("profile", of.profile.value),
        ("baseline", of.names[Contender.BASELINE]),
        ("timed blocks", str(of.trials)),
        ("seed", "drawn anew" if of.seed is None else str(of.seed)),
        ("deadline", f"{of.deadline_s:g} s"),
        ("most replacement functions", "no cap" if of.replacement_cap is None else str(of.replacement_cap)),
    ]
