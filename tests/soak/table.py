"""What a soak has shown, as a table for people, and beside it what must hold."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.soak.holding import LEFT_BEHIND, Held
from tests.soak.persons import kind_of
from tests.soak.soaking import MINUTE_S, ROLES, Result

WARM_MINUTE = 5
"""From this minute on memory may grow by MOST_GROWTH."""
MOST_GROWTH = 1.2
AIMS_S = {"page": 1.0, "check begun": 3.0, "boards": 0.5}
"""Within how many seconds 95 of 100 must come."""
MIB = 1 << 20
SHOWN: dict[str, tuple[str, float]] = {
    "memory_bytes": ("memory of the app, MiB", MIB),
    "processes": ("processes, with zombies", 1),
    "zombies": ("zombies", 1),
    "handles": ("open handles, with sockets", 1),
    "sockets": ("sockets", 1),
    "temporary": ("temporary files", 1),
    "shared": ("files in /dev/shm", 1),
    "stored_bytes": ("results, MiB", MIB),
}


def table(result: Result) -> str:
    """The whole table."""
    parts = (_persons(result), _held(result), _waits(result), _aims(result), _problems(result))
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _persons(result: Result) -> Iterator[str]:
    kinds = Counter(kind_of(number) for number in range(result.plan.persons))
    turns = [result.notes.turns[number] for number in range(result.plan.persons)]
    yield f"{result.plan.persons} persons for {result.plan.minutes:g} minutes, {sum(turns)} turns, each {min(turns)} to"
    yield f"{max(turns)}: " + ", ".join(f"{count} of kind {kind} ({ROLES[kind]}s)" for kind, count in kinds.items())


def _columns(result: Result) -> list[int]:
    """The minutes that are shown: the first, the middle and the last one so far."""
    now = len(result.minutes)
    return sorted({minute for minute in (1, int(result.plan.minutes) // 2, now) if 0 < minute <= now})


def _held(result: Result) -> Iterator[str]:
    columns = [("at rest before", result.before)]
    columns += [(f"minute {minute}", result.minutes[minute - 1]) for minute in _columns(result)]
    columns += [("at rest after", result.after)] if result.after else []
    yield f"{'held':<28}" + "".join(f"{name:>16}" for name, _ in columns)
    for field, (name, unit) in SHOWN.items():
        yield f"{name:<28}" + "".join(f"{getattr(held, field) / unit:>16,.0f}" for _, held in columns)


def _waits(result: Result) -> Iterator[str]:
    """p50 and p95 of what came since the column before."""
    columns = _columns(result)
    titles = (*(f"minute {each}" for each in columns), "all")
    yield f"{'waited, s (p50 / p95)':<28}{'number':>10}" + "".join(f"{title:>18}" for title in titles)
    for what, took in sorted(result.notes.took.items()):
        cells, since_s = [], 0.0
        for minute in columns:
            cells.append([seconds for at_s, seconds in took if since_s < at_s <= minute * MINUTE_S])
            since_s = minute * MINUTE_S
        cells.append([seconds for _, seconds in took])
        yield f"{what:<28}{len(took):>10}" + "".join(f"{_two(cell):>18}" for cell in cells)


def _two(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.2f} / {percentile(seconds, 0.95):.2f}" if seconds else "-"


def _aims(result: Result) -> Iterator[str]:
    yield f"{'must hold':<52}{'is':>12}{'aim':>12}"
    rows: list[tuple[str, float, float]] = []
    if result.after is not None:
        rows += [
            (f"{SHOWN[field][0]}: growth at rest", getattr(result.after, field) - getattr(result.before, field), 0)
            for field in LEFT_BEHIND
        ]
    if len(result.minutes) > WARM_MINUTE:
        rows.append((f"memory: last minute / minute {WARM_MINUTE}", _growth(result.minutes), MOST_GROWTH))
    for what, aim_s in AIMS_S.items():
        if took := result.notes.took.get(what):
            rows.append((f"{what}: 95 % within, s", percentile([seconds for _, seconds in took], 0.95), aim_s))
    rows.append(("errors", len(result.notes.problems), 0))
    for name, value, aim in rows:
        yield f"{name:<52}{value:>12.4g}{aim:>12g}   {'met' if value <= aim else 'not met'}"


def _growth(minutes: Sequence[Held]) -> float:
    return minutes[-1].memory_bytes / minutes[WARM_MINUTE - 1].memory_bytes


def _problems(result: Result) -> Iterator[str]:
    problems = Counter(result.notes.problems)
    yield f"{len(result.notes.problems)} errors"
    yield from (f"{count} times: {problem}" for problem, count in problems.most_common(20))
