"""Who made a run and its passes, in words that are the same for every reader, or for the visitor whose run it is."""

import re
from collections.abc import Mapping

from passnet_core.records import Bundle, Run, SolverKind
from passnet_core.store.exchange import IMPORTED

MINE, EDITED = "mine", ", edited"
"""How the Workbench labels runs of a visitor's own passes, and how labels of other passes end that were edited."""
NAMED: Mapping[str, str] = {"rules": "the rules", "reference": "the playground (a reference bundle)"}
"""Authors of bundles that are not their own name."""
DIGEST = re.compile(r"[0-9a-f]{12,}")


def author_of(run: Run, bundle: Bundle | None, *, reference: str = "", own: bool = False) -> str:
    """Return who wrote the passes of a run; "" for TorchInductor, and if nobody is named.

    bundle: None: not known. reference: the name of the reference bundle that it is. own: whether the reader started the
    run, and so is "you". An author whose passes a visitor edited is not the author of what was judged."""
    if run.solver is SolverKind.INDUCTOR:
        return ""
    if reference:
        return f"the playground (reference bundle {reference})"
    visitor = "you" if own else "a visitor of another playground" if is_imported(run) else "a visitor"
    if run.label.endswith(EDITED):
        name = run.label.removesuffix(EDITED)
        return f"{visitor}, from {'other passes' if DIGEST.fullmatch(name) else name}"
    if bundle is not None and bundle.author:
        return NAMED.get(bundle.author, bundle.author)
    return visitor if own or run.label == MINE else ""


def solver_words(run: Run, *, own: bool = False) -> str:
    """Name the solver of a run. Passes have the run's label, unless it only says whose draft they are. own: as in
    author_of."""
    if run.solver is SolverKind.INDUCTOR:
        return run.spec.names[run.solver.contender]
    name = run.label.removesuffix(EDITED)
    if name == MINE:
        return "your passes" if own else "a visitor's passes"
    if DIGEST.fullmatch(name):
        return f"passes {name[:6]}{run.label.removeprefix(name)}"
    return run.label or "unnamed passes"


def is_imported(run: Run) -> bool:
    """Whether the run comes from a file that somebody imported, not from this playground's own data."""
    return run.recorded.endswith(IMPORTED)


def origin_words(run: Run) -> str:
    """Return where the run was made: "recorded: NVIDIA H200, 2026-02-03", "imported: …"; "" if it was made here."""
    if is_imported(run):
        return f"imported: {run.recorded.removesuffix(IMPORTED)}"
    return f"recorded: {run.recorded}" if run.recorded else ""
