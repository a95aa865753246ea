"""What came of looking for passes for a model: the record, and its text."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from passnet_core.records import BEYOND, LOOSEST, Bundle, Clock, Contender, JudgedSubgraph, Outcome, Task, to_json
from passnet_core.scoring.intervals import Interval
from passnet_core.whole_models.captured import WHOLE, CapturedModel
from passnet_core.whole_models.choosing import RULES
from passnet_core.whole_models.timing import TimingAnswer, Way

WAYS = {
    Way.EAGER: "eager",
    Way.CAPTURED: "captured, no passes",
    Way.INDUCTOR: "Inductor",
    Way.PASSES: "passes, the rest eager",
    Way.PASSES_INDUCTOR: "passes, the rest Inductor",
    Way.GRAPHS: "Inductor in a CUDA graph",
    Way.PASSES_GRAPHS: "passes, the rest Inductor in a CUDA graph",
}
"""How texts for people name the ways to run a model."""

COMPARED = (Way.EAGER, Way.INDUCTOR, Way.GRAPHS)
"""The ways with which each way is compared."""


IN_WHOLE = "with it, the verdict on graph {} as a whole is"
"""How the reason begins for which a pass is left out that was right by itself."""


@dataclass(frozen=True)
class MatchedPart:
    """One match of a pass. graph: the place of the graph in the model. nodes: what it replaces. subgraph: the id of the
    task's subgraph that is equal to it. calls: how often one call of the model runs it."""

    graph: int
    nodes: tuple[str, ...]
    subgraph: str
    calls: int = 1


@dataclass(frozen=True)
class PassInModel:
    """A pass that matches in the model. origin: "rules", which wrote it for this model, or a bundle of the gallery.
    task: what it matches, cut from the model. outcomes: of judging it on the task's subgraphs. left_out: why it is not
    in the bundle, or empty."""

    name: str
    origin: str
    task: Task
    parts: tuple[MatchedPart, ...]
    outcomes: tuple[Outcome, ...]
    left_out: str = ""

    def kernel_us(self) -> float | None:
        """Microseconds of eager's kernels in one call of the model, for all matches together; None: not measured."""
        return self._per_call(Contender.EAGER, Clock.KERNEL, lambda outcome, eager_us: eager_us)

    def _per_call(self, contender: Contender, clock: Clock, counted: Callable[[Outcome, float], float]) -> float | None:
        """What is counted of each match's time, in microseconds, over one call of the model. None: not measured."""
        found = {
            each.subgraph_id: counted(each, timing.median)
            for each in self.outcomes
            if (timing := each.timing(contender, clock)) is not None
        }
        if not self.parts or any(each.subgraph not in found for each in self.parts):
            return None
        return sum(found[each.subgraph] * each.calls for each in self.parts)

    def saved_us(self) -> float | None:
        """Microseconds that the pass saves in one call of the model, by the judge's end-to-end clock, which counts each
        match as if nothing else ran; None: not measured."""
        speedups = {each.subgraph_id: each.speedup(Clock.END_TO_END) for each in self.outcomes}

        def saved(outcome: Outcome, eager_us: float) -> float:
            # from paired ratios, which are steadier than medians
            found = speedups[outcome.subgraph_id]
            return eager_us * (1 - 1 / found.value) if found else 0.0

        return self._per_call(Contender.EAGER, Clock.END_TO_END, saved)

    @property
    def verdicts(self) -> str:
        counts = Counter(each.verdict.value for each in self.outcomes)
        return ", ".join(f"{name} × {count}" if count > 1 else name for name, count in counts.items()) or "not judged"


@dataclass(frozen=True)
class GalleryMatch:
    """A bundle of the gallery that matches in the model. matches: how often. used: whether a pass of it was chosen."""

    name: str
    passes: tuple[str, ...]
    matches: int
    used: bool


@dataclass(frozen=True)
class ModelReport:
    """What came of looking for passes for a model. bundle: accepted passes with which every graph is right as a whole;
    None: there are none. passes: those that were judged. gallery: the bundles that match anywhere. left: why operations
    stay as they are. whole: the outcomes of the graphs in which the bundle matches, each as a whole. timing: the model
    in several ways; None: it was not run, and untimed says why."""

    model: CapturedModel
    bundle: Bundle | None
    passes: tuple[PassInModel, ...]
    gallery: tuple[GalleryMatch, ...]
    left: tuple[str, ...]
    whole: tuple[Outcome, ...]
    timing: TimingAnswer | None
    untimed: str = ""
    device: str = ""
    date: str = ""
    took_s: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[PassInModel, ...]:
        return tuple(each for each in self.passes if not each.left_out)

    @property
    def covered(self) -> int:
        """How many operations of one call the kept passes replace."""
        return sum(len(part.nodes) * part.calls for each in self.kept for part in each.parts)

    @property
    def right(self) -> bool:
        """Whether every graph with a match was judged as a whole, and is right."""
        return bool(self.whole) and all(each.verdict.accepted for each in self.whole)

    @property
    def judged(self) -> tuple[JudgedSubgraph, ...]:
        """The parts of the model on which the bundle's passes were accepted."""
        return tuple(
            JudgedSubgraph(each.task.subgraph(outcome.subgraph_id), (outcome.spec.device,), (each.name,))
            for each in self.kept
            for outcome in each.outcomes
        )

    def share_of_time(self) -> float | None:
        """The share of eager's kernel time that the kept passes replace, as far as measured; None: not measured."""
        timings = {graph_of(each): each.timing(Contender.EAGER, Clock.KERNEL) for each in self.whole}
        whole = [timings.get(place) for place in range(len(self.model.graphs))]
        parts = [found for each in self.kept if (found := each.kernel_us()) is not None]
        if not whole or None in whole or not parts:
            return None
        total = sum(timing.median * graph.calls for timing, graph in zip(whole, self.model.graphs) if timing)
        return sum(parts) / total if total else None

    # --- text ---

    def lines(self) -> Iterator[str]:
        """The report in Markdown."""
        model = self.model
        graphs = f"{len(model.graphs)} graph{'s' if len(model.graphs) != 1 else ''}"
        yield f"# Passes for {model.name}"
        yield ""
        yield (
            f"{model.parameters:,} parameters; one call runs {model.operations:,} operations in {graphs}. Judged on"
            f" {self.device or 'an unknown device'}, {self.date}."
        )
        yield ""
        for each in self.passes:
            if each.left_out.startswith(IN_WHOLE.partition("{}")[0]):
                yield f"**Pass {each.name} is left out: {each.left_out}**\n"
        yield from (f"{each}\n" for each in (*model.notes, *self.notes))
        if self.bundle is None:
            yield "No pass was accepted, so there is no bundle."
        else:
            share = self.share_of_time()
            time = f", which take {share:.0%} of eager's kernel time" if share is not None else ""
            yield (
                f"The bundle `{self.bundle.digest[:12]}` has {_counted(len(self.bundle.passes), 'pass', 'passes')}, for"
                f" {self.covered:,} of {model.operations:,} operations{time}."
            )
        yield from self._end_to_end()
        yield from self._values()
        yield from self._passes()
        yield from self._gallery()
        if self.left:
            yield from ("", "## Left as it is", "", *(f"- {each}" for each in self.left))

    def _end_to_end(self) -> Iterator[str]:
        yield from ("", "## The whole model", "")
        if self.timing is None:
            yield f"It was not run. {self.untimed}".strip()
            return
        if not any(each.seconds for each in self.timing.ways):
            yield "No times were taken."
            return
        yield "| way | ms per call | times as fast as eager | as Inductor | as Inductor in a CUDA graph | matches |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for each in self.timing.ways:
            if each.problem:
                yield f"| {WAYS[each.way]} | did not run: {_cell(each.problem)} | | | | |"
                continue
            ms = (each.median_s or 0.0) * 1e3
            over = " | ".join(_ratio(self.timing.speedup(each.way, way)) for way in COMPARED)
            yield f"| {WAYS[each.way]} | {ms:.3f} | {over} | {each.matches or ''} |"
        yield ""
        rounds = len(self.timing.ways[0].seconds)
        yield (
            f"Medians on {self.timing.device} of {rounds} rounds, in each of which every way ran {self.timing.calls}"
            " calls in a row; ratios are within rounds, with their 95% interval."
        )

    def _values(self) -> Iterator[str]:
        if self.whole or self.timing:
            yield from ("", "## Values", "")
        for each in self.whole:
            yield f"- Graph {graph_of(each)} as a whole, with all passes: **{each.verdict.value}**. {each.reason}"
            levels = [output.level for output in each.accuracy.outputs] if each.accuracy else []
            if levels:
                yield f"  Smallest t of its outputs, on all input draws: {', '.join(map(str, levels))}."
        for run in self.timing.ways if self.timing else ():
            if run.way is not Way.EAGER and run.correct_at is not None:
                smallest = f"t = {run.smallest_t}" if run.smallest_t is not None else BEYOND
                held = ", ".join(str(t) for t in run.correct_at if t <= LOOSEST) or "none"
                yield f"- {WAYS[run.way]}, on the example inputs: {smallest}. Levels that hold: {held}."

    def _passes(self) -> Iterator[str]:
        if not self.passes:
            return
        yield from ("", "## Passes", "")
        yield "| pass | from | matches | operations | verdicts | saves µs a call | in the bundle |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        for each in self.passes:
            saved = each.saved_us()
            size = max((len(part.nodes) for part in each.parts), default=0)
            origin = "this model" if each.origin == RULES else each.origin
            yield (
                f"| {each.name} | {origin} | {len(each.parts)} | {size} |"
                f" {each.verdicts} | {'' if saved is None else f'{saved:.1f}'} |"
                f" {_cell(each.left_out) or 'yes'} |"
            )

    def _gallery(self) -> Iterator[str]:
        if not self.gallery:
            return
        yield from ("", "## Matches of the gallery", "")
        yield "| bundle | passes | matches | used |"
        yield "| --- | --- | --- | --- |"
        for each in self.gallery:
            yield f"| {each.name} | {', '.join(each.passes)} | {each.matches} | {'yes' if each.used else ''} |"


def graph_of(outcome: Outcome) -> int:
    """Which graph of the model was judged as a whole."""
    return int(outcome.subgraph_id.removeprefix(WHOLE))


def as_data(report: ModelReport) -> dict[str, Any]:
    """The report's figures, as data for JSON."""
    return {
        "model": report.model.name,
        "device": report.device,
        "date": report.date,
        "parameters": report.model.parameters,
        "graphs": len(report.model.graphs),
        "operations": report.model.operations,
        "covered": report.covered,
        "share_of_kernel_time": report.share_of_time(),
        "bundle": report.bundle.digest if report.bundle else None,
        "right": report.right,
        "passes": [
            {
                "name": each.name,
                "origin": each.origin,
                "task": each.task.id,
                "matches": len(each.parts),
                "verdicts": [outcome.verdict.value for outcome in each.outcomes],
                "saved_us": each.saved_us(),
                "left_out": each.left_out,
            }
            for each in report.passes
        ],
        "gallery": [to_json(each) for each in report.gallery],
        "left": list(report.left),
        "whole": [
            {
                "graph": graph_of(each),
                "verdict": each.verdict.value,
                "reason": each.reason,
                "levels": [output.level for output in each.accuracy.outputs] if each.accuracy else [],
            }
            for each in report.whole
        ],
        "ways": ways_data(report.timing) if report.timing else [],
        "untimed": report.untimed,
        "took_s": report.took_s,
    }


def ways_data(timing: TimingAnswer) -> list[dict[str, Any]]:
    """The figures of each way to run the model, as data for JSON."""

    def over(way: Way, other: Way) -> Any:
        found = timing.speedup(way, other)
        return to_json(found) if found else None

    return [
        {
            "way": each.way.value,
            "seconds": each.median_s,
            "over_eager": over(each.way, Way.EAGER),
            "over_captured": over(each.way, Way.CAPTURED),
            "over_inductor": over(each.way, Way.INDUCTOR),
            "over_graphs": over(each.way, Way.GRAPHS),
            "correct_at": each.correct_at,
            "matches": each.matches,
            "problem": each.problem,
        }
        for each in timing.ways
    ]


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _ratio(found: Interval | None) -> str:
    return "" if found is None else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
