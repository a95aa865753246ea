"""TorchInductor's effects on real subgraphs: how many it slows down, which ones, and where the time goes."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from passnet_core.corpus.summaries import TaskSummary
from passnet_core.graphs.vocabulary import FAMILY
from passnet_core.records import Baseline, Capture, Clock, Contender
from passnet_core.store.rows import BaselineRow


class Ground(NamedTuple):
    """The conditions that rows counted together share."""

    device: str
    capture: Capture
    clock_version: int
    baseline: Baseline


class Effect(StrEnum):
    """How Inductor's time on a subgraph compares with eager's."""

    SLOWER = "slower than eager"
    SAME = "no measurable difference"
    FASTER = "faster than eager"


class Grouping(StrEnum):
    """The property by which subgraphs are grouped."""

    CLOCK = "clock"
    TIME = "eager's time"
    OPERATIONS = "operations"
    OPERATORS = "kind of operator"
    DTYPE = "dtype"
    FAMILY = "family"


@dataclass(frozen=True)
class Share:
    """The subgraphs of one group, counted by Inductor's effect. speedup: their median speedup."""

    group: str
    counts: Mapping[Effect, int]
    speedup: float

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def slower(self) -> float:
        """The share that Inductor slows down, from 0 to 1."""
        return self.counts[Effect.SLOWER] / self.total


@dataclass(frozen=True)
class Spent:
    """Where the time of a contender's call goes, in microseconds: into its kernels, and into everything around them.
    Medians over subgraphs."""

    contender: Contender
    kernels_us: float
    around_us: float


@dataclass(frozen=True)
class Guards:
    """How many microseconds compiled capture adds to a call of Inductor's code, for guards and their dispatch. The
    median over `subgraphs` subgraphs."""

    microseconds: float
    subgraphs: int


# the groups: the bound below which a value belongs to a group, and the group's name
TIMES = ((25.0, "below 25 µs"), (50.0, "25 to 50 µs"), (100.0, "50 to 100 µs"), (1000.0, "100 µs to 1 ms"))
LONGEST = "1 ms and more"
SIZES = ((4, "1 to 3"), (11, "4 to 10"), (51, "11 to 50"))
LARGEST = "more"
NOT_GROUPED = ("layout", "indexing", "creation", "other")
"""Kinds of operators that are not groups: they compute nothing."""


def grounds(rows: Iterable[BaselineRow]) -> tuple[Ground, ...]:
    """Return the grounds of the rows: the newest clock version and the default baseline first, then those with the most
    rows."""
    counts = Counter(ground_of(row) for row in rows)
    order = list(Baseline)
    return tuple(
        sorted(counts, key=lambda each: (-each.clock_version, order.index(each.baseline), -counts[each], *each))
    )


def ground_of(row: BaselineRow) -> Ground:
    return Ground(row.device, row.capture, row.clock_version, row.baseline)


def effect(row: BaselineRow, clock: Clock) -> Effect | None:
    """Classify Inductor's speedup on this clock; None: not timed.
    Slower and faster require that the whole interval is on one side of 1 and, end to end, that the speedup exceeds the
    noise floor."""
    found = row.speedup(clock)
    if found is None:
        return None
    floor = 1 + (row.noise or 0.0) if clock is Clock.END_TO_END else 1.0
    if found.high < 1 and found.value < 1 / floor:
        return Effect.SLOWER
    return Effect.FASTER if found.low > 1 and found.value > floor else Effect.SAME


def shares(
    rows: Sequence[BaselineRow], clock: Clock, grouping: Grouping, tasks: Mapping[str, TaskSummary]
) -> tuple[Share, ...]:
    """Return the shares of each group on this clock, in the groups' natural order. Grouping.CLOCK gives every clock's.
    tasks: the known ones, by name. A subgraph with several kinds of operators is in the group of each."""
    if grouping is Grouping.CLOCK:
        return tuple(share for each in Clock if (share := share_on(each, rows)))
    groups: dict[str, list[BaselineRow]] = {}
    naming = NAMING[grouping]
    for row in rows:
        for name in naming(row, tasks.get(row.task_id)):
            groups.setdefault(name, []).append(row)
    order = {name: place for place, name in enumerate(ORDER)}
    names = sorted(groups, key=lambda name: (order.get(name, len(order)), name))
    return tuple(share for name in names if (share := share_on(clock, groups[name], name)))


def share_on(clock: Clock, rows: Sequence[BaselineRow], name: str = "") -> Share | None:
    """Return the share of all these subgraphs as one group; None if none was timed. name: "" means the clock's name."""
    counts = dict.fromkeys(Effect, 0)
    speedups = []
    for row in rows:
        found, kind = row.speedup(clock), effect(row, clock)
        if found is not None and kind is not None:
            counts[kind] += 1
            speedups.append(found.value)
    return Share(name or clock.value, counts, median(speedups)) if speedups else None


def spent(rows: Iterable[BaselineRow]) -> tuple[Spent, ...]:
    """Return where the time of a call goes, for eager and for Inductor, over the subgraphs with kernel times."""
    pieces: dict[Contender, list[tuple[float, float]]] = {}
    for row in rows:
        for contender in (Contender.EAGER, Contender.BASELINE):
            whole, kernels = row.time(contender, Clock.END_TO_END), row.time(contender, Clock.KERNEL)
            if whole is not None and kernels is not None:
                pieces.setdefault(contender, []).append((kernels, max(whole - kernels, 0.0)))
    return tuple(
        Spent(contender, median(kernels for kernels, _ in each), median(around for _, around in each))
        for contender, each in pieces.items()
    )


def guards(rows: Iterable[BaselineRow], ground: Ground) -> Guards | None:
    """Return the cost of guards on this ground, in both captures; None if no subgraph was timed in both.
    It is how much longer Inductor takes in compiled than in direct capture, which has no guards. Eager has none in
    either, so its own difference between the two measurements is subtracted."""
    beyond: dict[tuple[str, str], dict[Capture, float]] = {}
    for row in rows:
        eager, inductor = (row.time(who, Clock.END_TO_END) for who in (Contender.EAGER, Contender.BASELINE))
        if ground_of(row)._replace(capture=ground.capture) == ground and eager is not None and inductor is not None:
            beyond.setdefault((row.task_id, row.subgraph_id), {})[row.capture] = inductor - eager
    found = [each[Capture.COMPILED] - each[Capture.DIRECT] for each in beyond.values() if len(each) == len(Capture)]
    return Guards(median(found), len(found)) if found else None


def _by_time(row: BaselineRow, task: TaskSummary | None) -> Sequence[str]:
    time = row.time(Contender.EAGER, Clock.END_TO_END)
    return () if time is None else (next((name for bound, name in TIMES if time < bound), LONGEST),)


def _by_operations(row: BaselineRow, task: TaskSummary | None) -> Sequence[str]:
    return () if task is None else (next((name for bound, name in SIZES if task.operations < bound), LARGEST),)


def _by_operators(row: BaselineRow, task: TaskSummary | None) -> Sequence[str]:
    return () if task is None else sorted({FAMILY.get(label, "other") for label in task.vocabulary} - set(NOT_GROUPED))


NAMING: Mapping[Grouping, Callable[[BaselineRow, TaskSummary | None], Sequence[str]]] = {
    Grouping.TIME: _by_time,
    Grouping.OPERATIONS: _by_operations,
    Grouping.OPERATORS: _by_operators,
    Grouping.DTYPE: lambda row, task: (row.dtype,),
    Grouping.FAMILY: lambda row, task: () if task is None else (task.family.value,),
}
ORDER = (*(name for _, name in TIMES), LONGEST, *(name for _, name in SIZES), LARGEST)
