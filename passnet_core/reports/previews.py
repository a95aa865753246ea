"""What a link to a run says of itself before it is opened: title, description and picture."""

from collections import Counter
from dataclasses import dataclass

from passnet_core.charts.previews import PreviewBar, preview
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import Clock, Contender, Outcome
from passnet_core.reports.asking import ShowsRuns


@dataclass(frozen=True)
class Preview:
    """title: the verdict. lines: task, device, day. bars: times per call of one outcome, or verdicts of several."""

    title: str
    lines: tuple[str, ...]
    bars: tuple[PreviewBar, ...]
    axis: str

    def png(self) -> bytes:
        return preview(self.title, self.lines, self.bars, self.axis)


def run_preview(service: ShowsRuns, run_id: str) -> Preview:
    """Return the preview of a run as far as it has come. Raises UnknownItem if there is no such run."""
    progress = service.progress(run_id)
    outcomes = progress.outcomes
    bars, axis = _times(outcomes[0]) if len(outcomes) == 1 else ((), "")
    if not bars:
        verdicts = Counter(each.verdict.value for each in outcomes)
        bars = tuple(PreviewBar(name, float(number), str(number)) for name, number in verdicts.most_common())
        axis = "subgraphs"
    tasks = progress.run.task_ids
    subject = ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
    device = next((each.environment.device for each in outcomes if each.environment), "")
    return Preview(_title(progress), tuple(filter(None, (subject, device, progress.run.started_at[:10]))), bars, axis)


def _title(progress: Progress) -> str:
    outcomes = progress.outcomes
    if not outcomes:
        return "A run under way"
    if len(outcomes) > 1:
        return f"{sum(each.verdict.accepted for each in outcomes)} of {progress.total} subgraphs accepted"
    (outcome,) = outcomes
    name, speedup = outcome.verdict.value, outcome.speedup()
    return name[:1].upper() + name[1:] + (f": {speedup.value:.2f}× eager" if speedup else "")


def _times(outcome: Outcome) -> tuple[tuple[PreviewBar, ...], str]:
    """The medians of the contenders, end to end."""
    timed = ((who, outcome.timing(who, Clock.END_TO_END)) for who in Contender)
    bars = tuple(
        PreviewBar(outcome.spec.names[who], timing.median, f"{timing.median:.3g} µs") for who, timing in timed if timing
    )
    return bars, "µs per call, end to end"
