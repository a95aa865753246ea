"""The content of a report, ready to be written: counts, scores, a section per subgraph, positions on time scales."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core import __version__
from passnet_core.charts.breakdown import speedup_words, times_words
from passnet_core.errors import BadInput
from passnet_core.graphs import rendering
from passnet_core.records import (
    ACCEPTED,
    UNDECIDED,
    UNJUDGED,
    Bundle,
    Clock,
    Contender,
    Environment,
    Outcome,
    Run,
    Subgraph,
    Timing,
    Verdict,
)
from passnet_core.reports.authors import author_of, origin_words, solver_words
from passnet_core.reports.comparison import environment_facts, spec_facts
from passnet_core.reports.pictures import Album, Picture
from passnet_core.reports.repeating import FOLDER, commands
from passnet_core.scoring.report import ScoreReport, score_reports

SIGNS: Mapping[Verdict, str] = {
    **{each: "✓" if each in ACCEPTED else "✗" for each in Verdict},
    **dict.fromkeys(UNJUDGED | UNDECIDED, "–"),
    Verdict.INCONCLUSIVE: "?",
    Verdict.SLOWER: "▼",
    Verdict.NO_DIFFERENCE: "≈",
    Verdict.FASTER: "▲",
}
LOOKS: Mapping[Contender, str] = {Contender.EAGER: "eager", Contender.BASELINE: "baseline", Contender.PASSES: "own"}
"""The CSS classes of the contenders' marks."""
SCALE = 420
"""The width of a clock's scale in pixels."""
SPAN, LEAST, MOST = 120, 0.25, 4.0
"""The summary's scale of speedups: its width in pixels, and the speedups at its ends. It is logarithmic."""


@dataclass(frozen=True)
class Material:
    """Everything that a report is made from.

    total: the number of requested subgraphs. problem: why fewer were judged; empty: none were left. bundle: None for
    Inductor, or if unknown here. subgraphs: the known ones, by (task id, subgraph id). members: the subgraph ids of
    each known task. reference: the bundle's name if it is a reference bundle of the playground; else empty."""

    run: Run
    total: int
    problem: str
    outcomes: tuple[Outcome, ...]
    bundle: Bundle | None
    subgraphs: Mapping[tuple[str, str], Subgraph]
    members: Mapping[str, Sequence[str]]
    reference: str = ""


@dataclass(frozen=True)
class Strip:
    """One contender's samples on a clock's scale. look: its CSS class. ticks: an SVG path. at: the median's position
    in pixels. words: the median in words."""

    who: str
    look: str
    ticks: str
    at: int
    words: str


@dataclass(frozen=True)
class ClockRow:
    """The times on one clock. low, high: the ends of the scale, in microseconds. beyond: how many samples lie right of
    it. speedups: (contender, speedup with its interval in words)."""

    clock: str
    strips: tuple[Strip, ...]
    low: float
    high: float
    beyond: int
    speedups: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TimeBar:
    """A speedup and its interval on the summary's scale, in pixels."""

    begin: int
    length: int
    at: int


@dataclass(frozen=True)
class Section:
    """The report's section on one subgraph. subgraph: None if it is unknown here, or was changed. before, after: its
    graph and the rewritten one. times: from times_words. place: the number of its environment, from 1; None: the report
    has only one."""

    number: int
    outcome: Outcome
    sign: str
    speedup: str
    times: str
    bar: TimeBar | None
    subgraph: Subgraph | None
    before: Picture | None
    after: Picture | None
    matches: tuple[tuple[str, str], ...]
    clocks: tuple[ClockRow, ...]
    place: int | None


@dataclass(frozen=True)
class Content:
    """The whole content of a report."""

    version: str
    material: Material
    solver: str
    origin: str
    facts: tuple[tuple[str, str], ...]
    accepted: int
    counts: tuple[tuple[str, str, int], ...]
    speedup: float | None
    scores: tuple[ScoreReport, ...]
    sections: tuple[Section, ...]
    environments: tuple[tuple[tuple[str, str], ...], ...]
    pictures: tuple[Picture, ...]
    commands: tuple[str, ...]
    order: tuple[str, ...]

    @property
    def several_tasks(self) -> bool:
        return len(self.material.run.task_ids) > 1


def content_of(material: Material) -> Content:
    """Return the content of a run's report. Equal material gives equal content."""
    run, outcomes, bundle = material.run, material.outcomes, material.bundle
    album = Album()
    environments = tuple(dict.fromkeys(each.environment for each in outcomes if each.environment is not None))
    numbers = {each: number for number, each in enumerate(environments, 1)}
    sections = tuple(
        _section(number, each, material.subgraphs.get((each.task_id, each.subgraph_id)), album, numbers)
        for number, each in enumerate(outcomes, 1)
    )
    verdicts = Counter(each.verdict for each in outcomes)
    speedups = [speedup.value for each in outcomes if (speedup := each.speedup())]
    return Content(
        version=__version__,
        material=material,
        solver=solver_words(run),
        origin=origin_words(run),
        facts=(
            ("devices", ", ".join(dict.fromkeys(each.device for each in environments)) or "no judge answered"),
            ("passes' digest", run.bundle_digest or f"none: {run.spec.names[Contender.BASELINE]}"),
            ("author of the passes", author_of(run, bundle, reference=material.reference)),
            *spec_facts(run.spec),
        ),
        accepted=sum(each.verdict.accepted for each in outcomes),
        counts=tuple((SIGNS[each], each.value, verdicts[each]) for each in reversed(Verdict) if verdicts[each]),
        speedup=median(speedups) if speedups else None,
        scores=_scores(outcomes),
        sections=sections,
        environments=tuple(tuple(environment_facts(each)) for each in environments),
        pictures=tuple(album.pictures),
        commands=commands(run, outcomes, material.members, material.reference or FOLDER),
        order=tuple(file.name.removesuffix(".py") for file in (bundle.passes if bundle else ())),
    )


def _scores(outcomes: Sequence[Outcome]) -> tuple[ScoreReport, ...]:
    """Return the scores; none if an imported run has times that no clock gives, such as negative ones."""
    try:
        return tuple(each for each in score_reports(outcomes) if each.samples)
    except BadInput:
        return ()


def _section(
    number: int, outcome: Outcome, subgraph: Subgraph | None, album: Album, environments: Mapping[Environment, int]
) -> Section:
    # the graph of a subgraph that has changed since is not the one that was judged
    known = subgraph if subgraph is not None and subgraph.digest == outcome.subgraph_digest else None
    before, after = album.before_and_after(known.code, outcome.match) if known else (None, None)
    return Section(
        number=number,
        outcome=outcome,
        sign=SIGNS[outcome.verdict],
        speedup=speedup_words(outcome.speedup()),
        times=times_words(outcome),
        bar=_bar(outcome),
        subgraph=known,
        before=before,
        after=after,
        matches=tuple(_matches(outcome)),
        clocks=tuple(_clock_row(outcome, clock) for clock in Clock if any(t.clock is clock for t in outcome.timings)),
        place=environments[outcome.environment] if outcome.environment and len(environments) > 1 else None,
    )


def _matches(outcome: Outcome) -> list[tuple[str, str]]:
    """Return, for each pass, its sign and name, and its matches in words."""
    rows = []
    for number, each in enumerate(outcome.match.passes if outcome.match else (), 1):
        nodes = "; ".join(", ".join(names) for names in each.matches)
        times = "1 match" if len(each.matches) == 1 else f"{len(each.matches)} matches"
        rows.append((f"{rendering.mark(number)} {each.name}", f"{times}: {nodes}" if each.matches else "no match"))
    return rows


def _bar(outcome: Outcome) -> TimeBar | None:
    speedup = outcome.speedup()
    if speedup is None:
        return None
    low, at, high = (_on_scale(each) for each in (speedup.low, speedup.value, speedup.high))
    return TimeBar(low, max(1, high - low), at)


def _on_scale(speedup: float) -> int:
    held = min(max(speedup, LEAST), MOST) if math.isfinite(speedup) else MOST
    return round(SPAN * math.log(held / LEAST) / math.log(MOST / LEAST))


def _clock_row(outcome: Outcome, clock: Clock) -> ClockRow:
    timings = [each for each in outcome.timings if each.clock is clock]
    samples = [each for timing in timings for each in timing.samples if math.isfinite(each)]
    # cut the scale at twice the largest median: one outlier would squeeze all other samples together
    high = min(max(samples, default=1.0), 2 * max(timing.median for timing in timings))
    low = min(min(samples, default=0.0), high)
    return ClockRow(
        clock=clock.value,
        strips=tuple(_strip(each, low, high, outcome.spec.names[each.contender]) for each in timings),
        low=low,
        high=high,
        beyond=sum(each > high for each in samples),
        speedups=tuple(
            (outcome.spec.names[each.contender], speedup_words(outcome.speedup(clock, each.contender)))
            for each in timings
            if outcome.speedup(clock, each.contender)
        ),
    )


def _strip(timing: Timing, low: float, high: float, who: str) -> Strip:
    def at(us: float) -> int:
        return round(SCALE * (us - low) / (high - low)) if high > low and math.isfinite(us) else SCALE // 2

    # samples on the same pixel share a tick
    places = sorted({at(each) for each in timing.samples if each <= high})
    return Strip(
        who=who,
        look=LOOKS[timing.contender],
        ticks="".join(f"M{each} 0v12" for each in places),
        at=min(at(timing.median), SCALE),
        words=f"{timing.median:.3g} µs, the median of {len(timing.samples):,} samples",
    )
