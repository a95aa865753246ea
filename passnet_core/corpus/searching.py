"""Find tasks by a line of search text: words, shapes, and operations that follow one another. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.corpus.summaries import TaskSummary

_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
_SHAPE = re.compile(r"\d+(?:[x×]\d+)+")
_ANY_OPERATIONS = ("…", "...")


@dataclass(frozen=True)
class Query:
    """A parsed search text; a task must have every part of it.
    shapes: such as "x128x768x", which is found inside the longer "x1x128x768x". sequences: patterns of operations."""

    words: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    sequences: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True)
class Searched:
    """A task as three texts in which queries search."""

    text: str
    shapes: str
    sequence: str


def read_query(text: str) -> Query:
    """Parse a search text such as "bert 128x768 layer_norm → linear": a word, a shape, and a linear operation right
    after a layer_norm.

    A word may be anywhere in the task's names. "->" means "→", "conv*" any operation whose name begins with "conv",
    and "…" any number of operations."""
    words, shapes, sequences = [], [], []
    for word in _ARROW.sub("→", text.lower()).split():
        if "→" in word:
            terms = [term for term in word.split("→") if term]
            sequences.append(re.compile("→" + "".join(map(_pattern, terms))))
        elif _SHAPE.fullmatch(word):
            shapes.append(f"x{word.replace('×', 'x')}x")
        else:
            words.append(word)
    return Query(tuple(words), tuple(shapes), tuple(sequences))


def _pattern(term: str) -> str:
    if term in _ANY_OPERATIONS:
        return "(?:[^→]+→)*"
    return re.escape(term).replace(r"\*", "[^→]*") + "→"


def searched(task: TaskSummary) -> Searched:
    """Return the texts of a task. Its sequence of operations is that of its first subgraph; the others resemble it."""
    return Searched(
        " ".join((task.id, task.split, *task.source_models, *task.vocabulary)).lower(),
        " ".join(f"x{'x'.join(map(str, shape))}x" for shape in task.shapes),
        f"→{'→'.join(task.operators)}→".lower(),
    )


def found(text: str, tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """Return the tasks that the search text finds, in their given order."""
    query = read_query(text)
    return [task for task in tasks if fits(query, searched(task))]


def fits(query: Query, task: Searched) -> bool:
    """Whether the task has every part of the query."""
    return (
        all(word in task.text for word in query.words)
        and all(shape in task.shapes for shape in query.shapes)
        and all(sequence.search(task.sequence) for sequence in query.sequences)
    )
