"""Find a bundle by its folder or digest."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from passnet_core.bundles.reading import read_bundle, read_judged
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, Device, JudgedSubgraph
from passnet_core.settings import BUNDLED_DATA, rules_file

LEAST_DIGITS = 8
"""How many characters of a digest name a bundle at least."""


@dataclass(frozen=True)
class ChosenBundle:
    """A bundle, and the subgraphs on which the judge has accepted it; none if nothing here says so."""

    bundle: Bundle
    judged: tuple[JudgedSubgraph, ...]


def found(named: str | Path | Bundle) -> ChosenBundle:
    """The bundle in a folder, or the one with this digest among those that come with the playground.

    Raises BadInput if there is none."""
    if isinstance(named, Bundle):
        return ChosenBundle(named, _bundled_tasks(named.digest))
    digits = str(named).lower()
    if Path(named).exists() or len(digits) < LEAST_DIGITS or set(digits) - set("0123456789abcdef"):
        bundle = read_bundle(Path(named))
        return ChosenBundle(bundle, _bundled_tasks(bundle.digest) or read_judged(bundle, Path(named)))
    known = {**_references(), **_of_rules()}
    fitting = [bundle for digest, (bundle, _) in known.items() if digest.startswith(digits)]
    if len(fitting) != 1:
        what = f"{len(fitting)} bundles" if fitting else "No bundle"
        raise BadInput(
            f"{what} of the playground's own have a digest that begins with {digits!r}. Name the bundle's folder: the"
            " Workbench exports one under More."
        )
    return ChosenBundle(fitting[0], _bundled_tasks(fitting[0].digest))


def _bundled_tasks(digest: str) -> tuple[JudgedSubgraph, ...]:
    """What a bundle that comes with the playground was judged on: its tasks, on both devices."""
    names = [name for known in (_references(), _of_rules()) if digest in known for name in known[digest][1]]
    return tuple(
        JudgedSubgraph(subgraph, tuple(Device)) for name in names for subgraph in _corpus().task(name).subgraphs
    )


@cache
def _corpus() -> Corpus:
    return Corpus([BUNDLED_DATA / "tasks"])


@cache
def _references() -> dict[str, tuple[Bundle, tuple[str, ...]]]:
    """The reference bundles by their digests, each with its tasks."""
    found: dict[str, tuple[Bundle, tuple[str, ...]]] = {}
    for about in (BUNDLED_DATA / "bundles").glob("*/about.json"):
        bundle = read_bundle(about.parent)
        found[bundle.digest] = bundle, tuple(json.loads(about.read_text(encoding="utf-8"))["tasks"])
    return found


@cache
def _of_rules() -> dict[str, tuple[Bundle, tuple[str, ...]]]:
    """The bundles that rules wrote for the bundled tasks, by their digests, each with its tasks. Reading them takes a
    quarter second."""
    solved = read_solved(rules_file())
    tasks: dict[str, list[str]] = {}
    for name, bundle in solved.items():
        tasks.setdefault(bundle.digest, []).append(name)
    return {digest: (solved[names[0]], tuple(names)) for digest, names in tasks.items()}
