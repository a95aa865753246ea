"""What a lesson is: a text, a small task, where one starts, a solution, and what usually goes wrong."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from passnet_core import outside
from passnet_core.advice.error_shapes import guessed
from passnet_core.bundles.reading import ORDER_FILE, read_bundle
from passnet_core.records import Bundle, MissKind, NearestMiss, Outcome, PassFile, Subgraph, Task, Verdict

TASK = "lesson-"
"""What the ids of lessons' tasks begin with; the lesson's id follows."""


class Star(StrEnum):
    """What passes can earn in a lesson. Each star needs those before it that the lesson gives."""

    RULES = "rules"
    """No rule rejects the passes, they load, and the replacement is wrapped and allocates on its inputs' device."""
    MATCH = "match"
    """They match in every subgraph of the lesson, also in those that it keeps back."""
    VALUES = "values"
    """Every output is correct on every input set."""
    KERNELS = "kernels"
    """The bundle's own kernels compute the values."""
    TRAFFIC = "traffic"
    """The launches are given hardly more bytes than the inputs and outputs have."""


class LessonPicture(StrEnum):
    """What the page of a lesson draws to play with."""

    STEPS = "steps"
    """The graph, computed step by step, with the bytes that eager moves."""
    MATCH = "match"
    """How the pattern is matched with the graph, step by step."""
    PROGRAMS = "programs"
    """Which elements each program of a kernel loads and stores."""
    COST = "cost"
    """What a call costs, by how many kernels it launches and how many bytes they move."""


@dataclass(frozen=True)
class Symptoms:
    """What the judge finds if somebody makes a certain mistake. An empty field holds for every outcome.

    star: the first star that the outcome does not earn. kept_back: whether the outcome is of a subgraph that the lesson
    keeps back, after all shown ones were right. rule: of a finding of the static rules. miss: of the nearest miss of a
    pass. says: a regular expression, found in the reason of the verdict, in what a finding or a miss says, in what is
    wrong with an output, or in what its errors may come from. inputs: exactly these input sets fail."""

    star: Star | None = None
    verdicts: tuple[Verdict, ...] = ()
    kept_back: bool | None = None
    rule: str = ""
    miss: MissKind | None = None
    says: str = ""
    inputs: tuple[str, ...] = ()

    def fit(self, outcome: Outcome, *, star: Star, kept_back: bool) -> bool:
        """Whether an outcome that does not earn this star shows all of them."""
        return (
            self.star in (None, star)
            and (not self.verdicts or outcome.verdict in self.verdicts)
            and self.kept_back in (None, kept_back)
            and (not self.rule or any(each.rule == self.rule for each in outcome.findings))
            and (self.miss is None or any(each.kind is self.miss for each in misses(outcome)))
            and (not self.says or any(re.search(self.says, text) for text in said(outcome)))
            and (not self.inputs or set(self.inputs) == _failed_sets(outcome))
        )


def misses(outcome: Outcome) -> Iterator[NearestMiss]:
    """The nearest miss of each pass that did not match."""
    for each in outcome.match.passes if outcome.match else ():
        if each.miss is not None:
            yield each.miss


def said(outcome: Outcome) -> Iterator[str]:
    """All that an outcome says in sentences."""
    yield outcome.reason
    yield from (each.message for each in outcome.findings)
    yield from (each.reason for each in misses(outcome))
    if outcome.accuracy is not None:
        for each in outcome.accuracy.outputs:
            yield each.problem
            guess = guessed(each, outcome.accuracy.profiles) if each.problem else None
            yield from (guess.meaning, guess.step) if guess else ()
    yield from (each.text for each in outcome.evidence if each.topic == "traceback")


def _failed_sets(outcome: Outcome) -> set[str]:
    return {name for each in (outcome.accuracy.outputs if outcome.accuracy else ()) for name in each.failed_sets}


@dataclass(frozen=True)
class Mistake:
    """A common mistake. comment: the sentences that help, Markdown. folder: of somebody's passes with it: a bundle, or
    only the files that differ from those of the solution; solution is None if it must be a bundle."""

    name: str
    symptoms: Symptoms
    comment: str
    folder: Path
    solution: Bundle | None = None

    @cached_property
    def bundle(self) -> Bundle:
        """The passes with the mistake, which are read only where lessons are tried out. Raises BadInput."""
        if self.solution is None or (self.folder / ORDER_FILE).exists():
            return read_bundle(self.folder, author="course")
        return replace(
            self.solution, passes=self._changed(self.solution.passes), helpers=self._changed(self.solution.helpers)
        )

    def _changed(self, files: tuple[PassFile, ...]) -> tuple[PassFile, ...]:
        places = {each: self.folder / each.name for each in files}
        return tuple(
            replace(each, code=outside.file_text(place)) if place.exists() else each for each, place in places.items()
        )


@dataclass(frozen=True)
class Lesson:
    """A lesson. goal: one sentence. text: Markdown. task: its subgraphs, which are small; its page shows the first.
    source_task, source_subgraph: the ids of the bundled subgraph from which that one is. kept_back: ids of those that
    are judged too, but not shown. start: the passes with one thing missing or broken. hints: each tells more than the
    one before. mistakes: the first that fits counts, those with a rule before the others; general: those that can be
    made in any lesson. explains: verdicts, kinds of misses and rules, by their values. further: ids of lessons, titles
    of chapters of Help, or links in Markdown, to read next. without: stars that it does not give. checkpoint: a free
    task, whose start is a frame."""

    id: str
    number: int
    title: str
    goal: str
    text: str
    picture: LessonPicture
    task: Task
    source_task: str
    source_subgraph: str
    kept_back: tuple[str, ...]
    start: Bundle
    solution: Bundle
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    general: tuple[Mistake, ...] = ()
    explains: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    without: tuple[Star, ...] = ()
    checkpoint: bool = False

    @property
    def stars(self) -> tuple[Star, ...]:
        """The stars that passes can earn, in their order."""
        return tuple(star for star in Star if star not in self.without)

    @property
    def shown(self) -> tuple[Subgraph, ...]:
        return tuple(each for each in self.task.subgraphs if each.id not in self.kept_back)
