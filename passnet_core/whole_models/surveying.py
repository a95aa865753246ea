"""Look for the matches of many bundles in captured graphs.

Run as a program, it reads a SurveyQuestion as JSON from standard input and writes a SurveyAnswer to standard output. It
imports the bundles, which are code: start it in a sandbox."""

import atexit
import contextlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

import torch

from passnet_core.bundles.reading import write_bundle
from passnet_core.errors import BadInput
from passnet_core.fx.loading import FOLDER, make_importable
from passnet_core.fx.passes import ImportedPasses, imported_passes
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.matching import Bind, remembered
from passnet_core.graphs.rewriting import rewrite
from passnet_core.graphs.source import parse
from passnet_core.operations.binding import bind
from passnet_core.records import Bundle
from passnet_core.whole_models.programs import answering
from passnet_core.whole_models.survey import FoundBundle, FoundPass, SurveyAnswer, SurveyQuestion


def survey(question: SurveyQuestion) -> SurveyAnswer:
    """Apply each bundle alone to each graph. A bundle that cannot be imported, or a graph that it cannot rewrite, is
    its problem and nobody else's."""
    graphs = [parse(code) for code in question.codes]
    ask = remembered(bind)
    with torch.no_grad():
        return SurveyAnswer(tuple(_found(each, graphs, ask) for each in question.bundles))


def _found(bundle: Bundle, graphs: Sequence[Graph], bind: Bind) -> FoundBundle:
    try:
        passes = passes_of(bundle).passes
        reports = [rewrite(graph, passes, bind=bind).reports for graph in graphs]
    except (BadInput, RecursionError) as error:
        return FoundBundle(bundle.digest, problem=str(error))
    return FoundBundle(
        bundle.digest,
        tuple(
            FoundPass(each.name, tuple(of_graph[place].matches for of_graph in reports))
            for place, each in enumerate(passes)
        ),
    )


@cache
def passes_of(bundle: Bundle) -> ImportedPasses:
    """Import the bundle's files, once per process.

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


def main() -> int:
    """Run the program. Returns exit code 0, or 2 with a sentence on standard error."""
    return answering(SurveyQuestion, survey)


if __name__ == "__main__":
    sys.exit(main())
