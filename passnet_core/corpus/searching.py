"""What a line of search text finds: words, shapes and operations that follow one another. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.corpus.summaries import TaskSummary

_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
_SHAPE = re.compile(r"\d+(?:[x×]\d+)+")
_ANYTHING = ("…", "...")


@dataclass(frozen=True)
class Query:
    """All of these must be there. shapes: "x128x768x", which a shape may go beyond at both ends."""

    words: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    sequences: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True)
class Searched:
    """What a task has for queries to look at."""

    text: str
    shapes: str
    sequence: str


def read_query(text: str) -> Query:
    """Reads what a visitor types: "bert 128x768 layer_norm → linear" is a word somewhere in the names, a shape, and a
    linear right after a layer_norm.

    "→" may be spelled "->"; "conv*" is any name that begins so, and "…" any number of operations.
    """
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
    if term in _ANYTHING:
        return "(?:[^→]+→)*"
    return re.escape(term).replace(r"\*", "[^→]*") + "→"


def searched(task: TaskSummary) -> Searched:
    """The task as queries look at it: its operations are those of its first subgraph, which the others resemble."""
    return Searched(
        " ".join((task.id, task.split, *task.source_models, *task.vocabulary)).lower(),
        " ".join(f"x{'x'.join(map(str, shape))}x" for shape in task.shapes),
        f"→{'→'.join(task.operators)}→".lower(),
    )


def found(text: str, tasks: Sequence[TaskSummary]) -> list[TaskSummary]:
    """The tasks that a line of search text finds, in their order."""
    query = read_query(text)
    return [task for task in tasks if fits(query, searched(task))]


def fits(query: Query, task: Searched) -> bool:
    """Whether the task has all that the query asks for."""
    return (
        all(word in task.text for word in query.words)
        and all(shape in task.shapes for shape in query.shapes)
        and all(sequence.search(task.sequence) for sequence in query.sequences)
    )
