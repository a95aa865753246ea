"""Write the folder of a new lesson, for a teacher to fill in."""

import json
import math
from pathlib import Path

from passnet_core.bundles.reading import write_bundle
from passnet_core.bundles.starting import starting_point
from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.lessons.reading import ABOUT, MISTAKES, MOST_ELEMENTS, NAME, SOLUTION, START, TEXT
from passnet_core.settings import ASSETS

TEMPLATE = ASSETS / "lesson.toml"


def new_lesson(folder: Path, corpus: Corpus, task_id: str, subgraph_id: str | None) -> Path:
    """Write a lesson about a subgraph into a new folder, and return it. Raises BadInput, UnknownItem."""
    if NAME.fullmatch(folder.name) is None:
        raise BadInput(f"{folder.name!r} is not the name of a lesson. Name its folder like 15-my-lesson.")
    if folder.exists():
        raise BadInput(f"{folder} exists already. Name another folder.")
    task = corpus.task(task_id)
    subgraph = task.subgraph(subgraph_id) if subgraph_id else task.subgraphs[0]
    bundle = starting_point(parse(subgraph.code))
    shapes = [_smaller(each.shape, len(subgraph.inputs)) for each in subgraph.inputs]
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("TASK", json.dumps(task.id)).replace("SUBGRAPH", json.dumps(subgraph.id))
    try:
        for place in (START, SOLUTION, f"{MISTAKES}/no_kernel"):
            write_bundle(bundle, folder / place)
        (folder / ABOUT).write_text(text.replace("SHAPES", json.dumps(shapes)), encoding="utf-8")
        (folder / TEXT).write_text("Explain one thing here, in at most 300 words.\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"The lesson cannot be written to {folder}: {error.strerror}. Name another folder.") from error
    return folder


def _smaller(shape: tuple[int, ...], inputs: int) -> list[int]:
    """A shape with few enough elements. Sizes that a graph knows by heart must stay, which the author sees to."""
    sizes = list(shape)
    while math.prod(sizes) > MOST_ELEMENTS // inputs:
        largest = max(range(len(sizes)), key=lambda axis: sizes[axis])
        sizes[largest] = max(1, sizes[largest] // 2)
    return sizes
