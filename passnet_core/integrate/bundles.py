"""Find a bundle by its folder or digest, and import its passes into this process, beside whatever else runs here."""

import atexit
import contextlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from passnet_core.bundles.reading import read_bundle, write_bundle
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput
from passnet_core.fx.loading import FOLDER, make_importable
from passnet_core.fx.passes import ImportedPasses, imported_passes
from passnet_core.records import Bundle
from passnet_core.settings import BUNDLED_DATA, rules_file

LEAST_DIGITS = 8
"""How many characters of a digest name a bundle at least."""


def found(named: str | Path | Bundle) -> Bundle:
    """The bundle in a folder, or the one with this digest among those that come with the playground.

    Raises BadInput if there is none."""
    if isinstance(named, Bundle):
        return named
    digits = str(named).lower()
    if Path(named).exists() or not _is_digest(digits):
        return read_bundle(Path(named))
    known = {**_references(), **_of_rules()}
    fitting = [bundle for digest, bundle in known.items() if digest.startswith(digits)]
    if len(fitting) != 1:
        what = f"{len(fitting)} bundles" if fitting else "No bundle"
        raise BadInput(
            f"{what} of the playground's own have a digest that begins with {digits!r}. Name the bundle's folder: the"
            " Workbench exports one under More."
        )
    return fitting[0]


def is_accepted(bundle: Bundle) -> bool:
    """Whether the bundle comes with the playground, whose judge has accepted it."""
    return bundle.digest in _references() or bundle.digest in _of_rules()


def _is_digest(text: str) -> bool:
    return len(text) >= LEAST_DIGITS and not set(text) - set("0123456789abcdef")


@cache
def _references() -> dict[str, Bundle]:
    """The reference bundles by their digests."""
    bundles = (read_bundle(each.parent) for each in (BUNDLED_DATA / "bundles").glob("*/about.json"))
    return {each.digest: each for each in bundles}


@cache
def _of_rules() -> dict[str, Bundle]:
    """The bundles that rules wrote for the bundled tasks, by their digests. Reading them takes a quarter second."""
    return {each.digest: each for each in read_solved(rules_file()).values()}


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
