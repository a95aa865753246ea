"""Find a bundle by its folder or digest, and import its passes into this process, beside whatever else runs here."""

import atexit
import contextlib
import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from passnet_core.bundles.reading import read_bundle, read_judged, write_bundle
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput
from passnet_core.fx.loading import FOLDER, make_importable
from passnet_core.fx.passes import ImportedPasses, imported_passes
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


@cache
def passes_of(bundle: Bundle) -> ImportedPasses:
    """Import the bundle's files, once per process. This runs them: import nothing that you do not trust.

    Raises BadInput that names the file if one cannot be imported."""
    root = Path(tempfile.mkdtemp(prefix="passnet-bundle-"))
    # Triton reads the source of a kernel from its file, perhaps as late as in its first launch
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = root / FOLDER
    write_bundle(bundle, folder)
    with _importable(folder, {file.name.removesuffix(".py") for file in bundle.files}):
        try:
            return imported_passes(bundle.passes, folder)
        except Exception as error:  # the bundle's own code
            raise BadInput(f"The bundle {bundle.digest[:12]} cannot be imported: {error}") from error


@contextlib.contextmanager
def _importable(folder: Path, names: Collection[str]) -> Iterator[None]:
    """Make the files in folder importable within this context. Afterwards their names mean again what they meant."""
    own = {FOLDER, *(each for each in names if each not in sys.stdlib_module_names)}

    def loaded() -> dict[str, object]:
        return {name: each for name, each in sys.modules.items() if name.partition(".")[0] in own}

    before, path, finders = loaded(), list(sys.path), list(sys.meta_path)
    for name in before:
        del sys.modules[name]
    make_importable(folder)
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(before)  # type: ignore[arg-type]
        sys.path[:], sys.meta_path[:] = path, finders
        importlib.invalidate_caches()
