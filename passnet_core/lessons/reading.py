"""Read lessons from their folders. Nothing in them is executed.

A folder is named by number and id, such as 02-first-pattern (a checkpoint has a c after its number), and holds
lesson.toml, text.md, and bundles: start/, solution/, and mistakes/NAME/ for each mistake of lesson.toml, which
may leave out what the solution has too. Beside the
lessons, mistakes.toml has those that can be made in any lesson, with mistakes/NAME/ for each, tried in its `lesson`.
"""

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from passnet_core import outside
from passnet_core.bundles.reading import read_bundle
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.lessons.lesson import TASK, Lesson, LessonPicture, Mistake, Star, Symptoms
from passnet_core.records import Bundle, MissKind, Subgraph, Task, Verdict

NAME = re.compile(r"(?P<number>\d\d)(?P<checkpoint>c?)-(?P<id>[a-z][a-z0-9-]*)")
ABOUT, TEXT, START, SOLUTION, MISTAKES = "lesson.toml", "text.md", "start", "solution", "mistakes"
GENERAL = "mistakes.toml"
HINTS, LEAST_MISTAKES, MOST_WORDS, MOST_SENTENCE = 3, 5, 300, 25
MOST_ELEMENTS = 1 << 16
"""How many elements the inputs of a lesson's subgraph may have, so that a grade takes seconds."""
FIELDS = {"title", "goal", "picture", "without", "variant", "hints", "explains", "further", "mistake"}
VARIANT = {"id", "task", "subgraph", "shapes", "kept_back"}
SYMPTOMS = {"name", "comment", "star", "verdicts", "kept_back", "rule", "miss", "says", "inputs"}

Find = Callable[[str], Task]
"""Returns the task of this name. Raises UnknownItem."""
E = TypeVar("E", bound=StrEnum)


def read_general(folder: Path) -> tuple[tuple[Mistake, ...], str]:
    """Return the mistakes that can be made in any lesson of a folder, and the id of the lesson in which they are tried;
    none without a file. Raises BadInput."""
    if not (folder / GENERAL).exists():
        return (), ""
    about = _about(folder / GENERAL)
    _only(about, {"lesson", "mistake"}, GENERAL)
    return tuple(_mistake(each, folder) for each in _tables(about, "mistake")), _text(about, "lesson")


def read_lesson(folder: Path, find: Find, general: tuple[Mistake, ...] = ()) -> Lesson:
    """Return the lesson in a folder. find: finds the tasks from which its subgraphs are. general: mistakes that can be
    made in any lesson. Raises BadInput that names the file, what is wrong, and the remedy."""
    named = NAME.fullmatch(folder.name)
    if named is None:
        raise BadInput(f"{folder.name!r} is not the name of a lesson. Name its folder like 02-first-pattern.")
    about = _about(folder / ABOUT)
    _only(about, FIELDS, ABOUT)
    variants = _tables(about, "variant")
    if not variants:
        raise BadInput(f"{ABOUT} needs a table [[variant]] for each subgraph.")
    found = [_variant(each, find) for each in variants]
    task_id = f"{TASK}{named['id']}"
    solution = _bundle(folder / SOLUTION)
    return Lesson(
        id=named["id"],
        number=int(named["number"]),
        title=_text(about, "title"),
        goal=_text(about, "goal"),
        text=_read(folder / TEXT),
        picture=_one(LessonPicture, _text(about, "picture"), "picture"),
        task=replace(found[0][0], id=task_id, subgraphs=tuple(replace(each, task_id=task_id) for _, each in found)),
        source_task=found[0][0].id,
        source_subgraph=_text(variants[0], "subgraph"),
        kept_back=tuple(
            each.id for each, about in zip((each for _, each in found), variants) if about.get("kept_back")
        ),
        start=_bundle(folder / START),
        solution=solution,
        hints=_texts(about, "hints"),
        mistakes=tuple(_mistake(each, folder, solution) for each in _tables(about, "mistake")),
        general=general,
        explains=_texts(about, "explains"),
        further=_texts(about, "further"),
        without=tuple(_one(Star, each, "stars") for each in _texts(about, "without")),
        checkpoint=bool(named["checkpoint"]),
    )


def shortcomings(lesson: Lesson) -> list[str]:
    """Return what a lesson lacks that every lesson of the course has, one sentence each."""
    found = []
    if len(lesson.hints) != HINTS:
        found.append(f"It has {len(lesson.hints)} hints. Write {HINTS}, each of which tells more than the one before.")
    if len(lesson.mistakes) < LEAST_MISTAKES:
        found.append(f"It knows {len(lesson.mistakes)} mistakes. Add others, to at least {LEAST_MISTAKES}.")
    words = len(lesson.text.split())
    if words > MOST_WORDS:
        found.append(f"Its text has {words} words. Shorten it to {MOST_WORDS}.")
    texts = [lesson.goal, lesson.text, *lesson.hints, *(each.comment for each in lesson.mistakes)]
    found += [
        f"A sentence has {len(each.split())} words. Shorten it to {MOST_SENTENCE}: {each!r}"
        for text in texts
        for each in sentences(text)
        if len(each.split()) > MOST_SENTENCE
    ]
    if lesson.start.digest == lesson.solution.digest:
        found.append(f"{START} and {SOLUTION} are the same. Take one thing out of {START}, or break it.")
    if not lesson.kept_back:
        found.append("It keeps no variant back. Add one with kept_back = true.")
    if not lesson.shown:
        found.append("It keeps every variant back. Show one.")
    return found


def sentences(text: str) -> list[str]:
    """Split a Markdown text without its code blocks into sentences; an item of a list and a heading is one."""
    prose = re.sub(r"```.*?(```|\Z)", "\n\n", text, flags=re.DOTALL)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.) ?)", prose)
    found = [each for block in paragraphs for each in re.split(r"(?<=[.!?:])\s+", " ".join(block.split()))]
    return [each for each in found if each]


def _bundle(folder: Path) -> Bundle:
    return read_bundle(folder, author="course")


def _variant(about: Mapping[str, Any], find: Find) -> tuple[Task, Subgraph]:
    """Return the task from which a subgraph is, and the subgraph with the id and the shapes that it has here."""
    _only(about, VARIANT, f"a variant in {ABOUT}")
    name = _text(about, "id")
    if _text(about, "task").startswith(TASK):
        raise BadInput(f"{ABOUT}: variant {name!r} is of a lesson. Name a task of the corpus.")
    try:
        task = find(_text(about, "task"))
        subgraph = task.subgraph(_text(about, "subgraph"))
    except PlaygroundError as error:
        raise BadInput(f"{ABOUT}: variant {name!r}: {error}") from error
    shapes = about.get("shapes", [list(each.shape) for each in subgraph.inputs])
    if not isinstance(shapes, list) or [len(each.shape) for each in subgraph.inputs] != [
        len(shape) if isinstance(shape, list) and all(type(size) is int and size > 0 for size in shape) else -1
        for shape in shapes
    ]:
        recorded = [list(each.shape) for each in subgraph.inputs]
        raise BadInput(f"{ABOUT}: shapes of variant {name!r} must have the form of {recorded}.")
    size = sum(map(math.prod, shapes))
    if size > MOST_ELEMENTS:
        raise BadInput(
            f"{ABOUT}: the inputs of variant {name!r} have {size:,} elements. Give it shapes with at most"
            f" {MOST_ELEMENTS:,}, so that a grade takes seconds."
        )
    inputs = tuple(
        each if list(each.shape) == shape else replace(each, shape=tuple(shape), data=None)
        for each, shape in zip(subgraph.inputs, shapes)
    )
    return task, replace(subgraph, id=name, inputs=inputs)


def _mistake(about: Mapping[str, Any], folder: Path, solution: Bundle | None = None) -> Mistake:
    _only(about, SYMPTOMS, f"a mistake in {ABOUT}")
    name = _text(about, "name")
    says = _text(about, "says") if "says" in about else ""
    try:
        re.compile(says)
    except re.error as error:
        raise BadInput(f"{ABOUT}: says of mistake {name!r} is not a regular expression: {error}.") from error
    place = folder / MISTAKES / name
    if not place.is_dir():
        raise BadInput(f"{ABOUT}: there is no folder {MISTAKES}/{name} with passes that have this mistake. Write it.")
    return Mistake(
        name=name,
        symptoms=Symptoms(
            star=_one(Star, _text(about, "star"), "stars") if "star" in about else None,
            verdicts=tuple(_one(Verdict, each, "verdicts") for each in _texts(about, "verdicts")),
            kept_back=bool(about["kept_back"]) if "kept_back" in about else None,
            rule=_text(about, "rule") if "rule" in about else "",
            miss=_one(MissKind, _text(about, "miss"), "kinds of misses") if "miss" in about else None,
            says=says,
            inputs=_texts(about, "inputs"),
        ),
        comment=_text(about, "comment"),
        folder=place,
        solution=solution,
    )


def _about(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(file))
    except RecursionError:
        raise BadInput(f"{file.name} is not TOML: it is nested too deeply.") from None
    except ValueError as error:
        raise BadInput(f"{file.name} is not TOML: {error}.") from error


def _read(path: Path) -> str:
    try:
        return outside.file_text(path)
    except FileNotFoundError:
        raise BadInput(f"{path.name} is missing. Write it.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name} cannot be read: {outside.cause(error)}.") from error


def _only(about: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in about:
        if name not in known:
            raise BadInput(f"{where} has a field {name!r}, which means nothing. Its fields are {_listed(known)}.")


def _text(about: Mapping[str, Any], name: str) -> str:
    value = about.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{ABOUT} needs a text for {name!r}.")
    return value.strip()


def _texts(about: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = about.get(name, [])
    if not isinstance(values, list) or not all(isinstance(each, str) and each.strip() for each in values):
        raise BadInput(f"{ABOUT} needs a list of texts for {name!r}.")
    return tuple(each.strip() for each in values)


def _tables(about: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    tables = about.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise BadInput(f"{ABOUT} needs a table [[{name}]] for each {name}.")
    return tables


def _one(kind: type[E], value: str, name: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise BadInput(f"{ABOUT}: {value!r} is not one of the {name}: {_listed(set(kind))}.") from None


def _listed(names: set[Any]) -> str:
    return ", ".join(sorted(map(str, names)))
