"""Write an outcome as one Python file that needs torch and Triton only, and computes and compares the same."""

import pprint
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records import RIGHT, Bundle, Outcome, PassFile, Subgraph, TensorSpec
from passnet_core.reports.asking import ShowsRuns
from passnet_core.reports.writing import asset

BODY = "reproduce.py"
LINE = "# --- what follows"
"""Where the part begins that all files share."""
WIDTH = 116


def reproducer(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> str:
    """The file's text, the same for the same outcome.

    Raises BadInput if the passes were not applied to the subgraph, so that there is nothing to compute."""
    if bundle is None or outcome.match is None or not outcome.match.rewritten:
        raise BadInput("There is nothing to reproduce: no pass of this outcome was applied to the subgraph.")
    where = _plain(outcome.environment.device) if outcome.environment else "an unknown device"
    when = _plain(outcome.finished_at)
    name, task = _plain(subgraph.id), _plain(subgraph.task_id)
    head = f'''"""Subgraph {name} of {task} with passes in it, as one program: python FILE

The judge of PassNet Playground said: {outcome.verdict.value}. That was on {where}, at {when},
with the passes {bundle.digest[:16]}. This file needs torch and Triton only. It draws inputs with the recorded shapes
and statistics, compares the subgraph with and without the passes to float64, and on a GPU takes times. It exits with 0
if it comes to the same verdict. It is a way to look closer, and no judge: it watches no kernel, catches no cheat, and
has five kinds of inputs where the judge has more."""
'''
    constants = {
        "VERDICT": outcome.verdict.value,
        "REASON": outcome.reason,
        "RIGHT": sorted(each.value for each in RIGHT),
        "INPUTS": [_described(each) for each in subgraph.inputs],
    }
    parts = [head, *(f"{name} = {_literal(value)}\n" for name, value in constants.items())]
    sources = {"SUBGRAPH": subgraph.code, "REWRITTEN": outcome.match.rewritten}
    parts += [f"{name} = {_quoted(code)}\n" for name, code in sources.items()]
    parts += [f"PASSES = {_files(bundle.passes)}\n", f"HELPERS = {_files(bundle.helpers)}\n"]
    _, line, body = asset(BODY).partition(LINE)
    return "\n".join([*parts, line + body])


def reproducer_of(service: ShowsRuns, outcome: Outcome) -> str:
    """The file for a stored outcome. Raises UnknownItem if its task or passes are gone, and BadInput as above."""
    subgraph = service.corpus.task(outcome.task_id).subgraph(outcome.subgraph_id)
    return reproducer(outcome, subgraph, service.bundle(outcome.bundle_digest) if outcome.bundle_digest else None)


def _described(spec: TensorSpec) -> dict[str, Any]:
    known = {"mean": spec.mean, "std": spec.std, "low": spec.low, "high": spec.high, "data": spec.data}
    return {
        "name": spec.name,
        "shape": list(spec.shape),
        "dtype": spec.dtype,
        "parameter": spec.is_of_a_module,
        **{name: value for name, value in known.items() if value is not None},
    }


def _plain(text: str) -> str:
    """A name from outside, for a docstring, which it must not end."""
    return "".join(each if each.isprintable() and each not in '"\\' else "?" for each in text)


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=WIDTH, sort_dicts=False)


def _files(files: tuple[PassFile, ...]) -> str:
    lines = "".join(f"    {each.name!r}: {_quoted(each.code)},\n" for each in files)
    return "{\n" + lines + "}" if lines else "{}"


def _quoted(code: str) -> str:
    """A text as a literal that can be read, if it has nothing that such a literal cannot hold."""
    plain = "\\" not in code and "'''" not in code and not code.endswith("'")
    plain &= all(each.isprintable() for each in code.split("\n"))
    return f"'''{code}'''" if plain else repr(code)
