"""What a run is called, and what a link to it says of itself before it is opened: title, description and picture."""

from collections import Counter
from dataclasses import dataclass

from passnet_core.charts.previews import PreviewBar, preview
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import Clock, Contender, Outcome, Run
from passnet_core.reports.asking import ShowsRuns
from passnet_core.reports.authors import solver_words


@dataclass(frozen=True)
class Preview:
    """title: that of the run. headline: its verdict, in large letters. lines: task, device, day. bars: times per call
    of one outcome, or verdicts of several."""

    title: str
    headline: str
    lines: tuple[str, ...]
    bars: tuple[PreviewBar, ...]
    axis: str

    def picture(self, kind: str) -> bytes:
        """The card as a file of this kind, "png" or "svg"."""
        return preview(self.headline, self.lines, self.bars, self.axis, kind)


def run_preview(service: ShowsRuns, run_id: str) -> Preview:
    """Return the preview of a run as far as it has come. Raises UnknownItem if there is no such run."""
    progress = service.progress(run_id)
    outcomes = progress.outcomes
    bars, axis = _times(outcomes[0]) if len(outcomes) == 1 else ((), "")
    if not bars:
        verdicts = Counter(each.verdict.value for each in outcomes)
        bars = tuple(PreviewBar(name, float(number), str(number)) for name, number in verdicts.most_common())
        axis = "subgraphs"
    device = next((each.environment.device for each in outcomes if each.environment), "")
    subject = f"{_capital(solver_words(progress.run))} on {tasks_words(progress.run)}"
    lines = tuple(filter(None, (subject, device, progress.run.started_at[:10])))
    return Preview(run_title(progress), _capital(_result(progress)), lines, bars, axis)


def run_title(progress: Progress, *, own: bool = False) -> str:
    """Say whose passes a run judged, on what and with which result: "TorchInductor on bloom-alibi-softmax: 1.33×
    eager". own: whether the reader started the run."""
    return f"{_capital(solver_words(progress.run, own=own))} on {tasks_words(progress.run)}: {_result(progress)}"


def tasks_words(run: Run) -> str:
    """Name the tasks of a run, of many the first three."""
    tasks = run.task_ids
    return ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")


def _result(progress: Progress) -> str:
    outcomes = progress.outcomes
    if not outcomes:
        return "no outcome" if progress.finished else "under way"
    if progress.total > 1:
        return f"{sum(each.verdict.accepted for each in outcomes)} of {progress.total} subgraphs accepted"
    (outcome,) = outcomes
    speedup = outcome.speedup()
    return f"{speedup.value:.2f}× eager" if speedup and outcome.verdict.accepted else outcome.verdict.value


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _times(outcome: Outcome) -> tuple[tuple[PreviewBar, ...], str]:
    """The medians of the contenders, end to end."""
    timed = ((who, outcome.timing(who, Clock.END_TO_END)) for who in Contender)
    bars = tuple(
        PreviewBar(outcome.spec.names[who], timing.median, f"{timing.median:.3g} µs") for who, timing in timed if timing
    )
    return bars, "µs per call, end to end"
