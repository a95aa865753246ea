"""The shapes and dtypes of the values in subgraphs, of many at once.

An inspection by a judge starts a process for each subgraph, which takes seconds. Run as a program, this module reads
subgraphs as JSON lines from standard input, computes each once on the CPU, and writes a line for each: its nodes'
values, or null if it could not be computed. It needs torch then. It calls operations by name and runs no source, so it
needs no sandbox for the tasks of a corpus."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from passnet_core.corpus.evaluation import FAILURES, evaluate, foreseen_spec
from passnet_core.corpus.running import drawn
from passnet_core.corpus.shapes import Shapes
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.graphs.source import parse
from passnet_core.records import Subgraph, from_json, to_json
from passnet_core.records.inspections import NodeValue, TensorForm

PROGRAM = "passnet_core.training.repairing.node_values"
LIMIT_S = 900.0


def values_of(backend: LocalBackend, subgraphs: Sequence[Subgraph]) -> Shapes:
    """The values in each of these subgraphs that can be computed. backend: whose Python to use. Raises
    InfrastructureError if the program fails."""
    asked = "".join(json.dumps(to_json(each)) + "\n" for each in subgraphs)
    try:
        ran = subprocess.run(
            [backend.python, "-m", PROGRAM],
            input=asked,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env=backend.environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureError(f"The shapes in subgraphs could not be computed: {error}.") from error
    lines = ran.stdout.splitlines()
    if len(lines) != len(subgraphs):
        said = ran.stderr.strip().rpartition("\n")[2][:300] or f"exit code {ran.returncode}"
        raise InfrastructureError(
            f"The shapes of only {len(lines)} of {len(subgraphs)} subgraphs could be computed: {said}."
        )
    found = {}
    for subgraph, line in zip(subgraphs, lines, strict=True):
        told = json.loads(line)
        if told is not None:
            found[subgraph.digest] = tuple(from_json(NodeValue, each) for each in told)
    return found


def _values(subgraph: Subgraph) -> list[Any] | None:
    found: list[NodeValue] = []

    def note(name: str, value: Any) -> None:
        tensors = [value] if _is_tensor(value) else list(value) if isinstance(value, tuple | list) else []
        if tensors and all(map(_is_tensor, tensors)):
            specs = [foreseen_spec(name, each) for each in tensors]
            found.append(NodeValue(name, tuple(TensorForm(each.shape, each.dtype) for each in specs)))

    try:
        evaluate(parse(subgraph.code), {spec.name: drawn(spec, "cpu") for spec in subgraph.inputs}, note)
    except (*FAILURES, BadInput):
        return None
    return [to_json(each) for each in found]


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "is_floating_point") and hasattr(value, "shape")


def main() -> int:
    """Run the program."""
    # libraries may print to standard output, which must contain only answers: send their output to standard error
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(_values(from_json(Subgraph, json.loads(line)))), file=answer, flush=True)
    answer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
