"""Find tasks by a line of search text: words, shapes, and operations that follow one another. Pure."""

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from passnet_core.corpus.summaries import TaskSummary

_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")
_BETWEEN = r"\s*[x×*,]\s*"
_SIZES = re.compile(rf"(?<![\w.])\d+(?:{_BETWEEN}\d+)+(?![\w.])")
_BRACKETED = re.compile(r"(?:torch\.)?(?:size)?[\[(]+\s*\d+(?:[\s,x×*]+\d+)*[\s,]*[\])]+")
_SHAPE = re.compile(r"\d+(?:x\d+)*")
LIKENESS = 0.7
"""The least likeness, from 0 to 1 as difflib has it, of a word that is proposed for one that no task has."""
_ANY_OPERATIONS = ("…", "...")


@dataclass(frozen=True)
class Query:
    """A parsed search text; a task must have every part of it.
    shapes: such as "x128x768x", which is found inside the longer "x1x128x768x". sizes: single sizes, which may be part
    of a name instead. sequences: patterns of operations."""

    words: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
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

    A word may be anywhere in the task's names. A shape may be written as 128x768, 128 x 768, [128, 768] or
    (2, 128, 768), or be a single size. "->" means "→", "conv*" any operation whose name begins with "conv", and "…" any
    number of operations."""
    words: list[str] = []
    shapes: list[str] = []
    sizes: list[str] = []
    sequences: list[re.Pattern[str]] = []
    for word in _spelled(text).split():
        if "→" in word:
            terms = [term for term in word.split("→") if term]
            sequences.append(re.compile("→" + "".join(map(_pattern, terms))))
        elif _SHAPE.fullmatch(word):
            (shapes if "x" in word else sizes).append(word)
        else:
            words.append(word)
    return Query(tuple(words), tuple(f"x{each}x" for each in shapes), tuple(sizes), tuple(sequences))


def _spelled(text: str) -> str:
    """The text with one spelling of arrows and shapes."""
    plain = _SIZES.sub(_joined, _BRACKETED.sub(_joined, text.lower()))
    return " ".join(_ARROW.sub("→", plain).split())


def _joined(found: re.Match[str]) -> str:
    return f" {'x'.join(re.findall('[0-9]+', found[0]))} "


def corrected(text: str, known: Collection[str]) -> str:
    """Return the search text with the likeliest of the known words in place of each word that none of them contains;
    empty if that changes nothing."""
    spelled = _spelled(text)

    def nearest(found: re.Match[str]) -> str:
        word = found[0]
        if _SHAPE.fullmatch(word) or any(word in each for each in known):
            return word
        return next(iter(difflib.get_close_matches(word, known, 1, LIKENESS)), word)

    likely = re.sub(r"[^\s→*…]+", nearest, spelled)
    return likely if likely != spelled else ""


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
        and all(f"x{size}x" in task.shapes or size in task.text for size in query.sizes)
        and all(sequence.search(task.sequence) for sequence in query.sequences)
    )
