"""Bundles that the rules write for the bundled tasks, without running them."""

from pathlib import Path

import pytest

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.corpus.catalogue import Corpus
from passnet_core.graphs.ir import Graph, NodeKind, Ref
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse, parse_function
from passnet_core.records import Bundle, PassFile, Task
from passnet_core.solvers.rules.solver import written

CORPUS = Corpus([Path(__file__).resolve().parents[3] / "data" / "tasks"])
EVAL = [each.id for each in CORPUS.tasks() if each.split == "eval"]
SOME = EVAL[::6]
"""Every sixth task: each takes a tenth of a second."""


def traced(file: PassFile, place: int) -> TracedPass:
    """The pass as the judge reads it."""
    pattern = parse_function(file.code, "pattern")
    inputs = tuple(each for each in pattern.nodes if each.kind is NodeKind.INPUT)
    arguments = Graph(inputs, tuple(Ref(each.name) for each in inputs))
    return TracedPass(file.name, pattern, arguments, f"replacement_{place}")


def unmatched(task: Task, bundle: Bundle) -> list[str]:
    """The subgraphs in which no pass matches."""
    passes = [traced(file, place) for place, file in enumerate(bundle.passes)]
    return [
        each.id
        for each in task.subgraphs
        if not any(report.matches for report in rewrite(parse(each.code), passes).reports)
    ]


@pytest.mark.parametrize("task_id", SOME)
def test_a_bundle_follows_the_rules_and_matches_in_every_subgraph(task_id: str) -> None:
    task = CORPUS.task(task_id)
    bundle = written(task).bundle
    for passnet in (False, True):
        assert [str(each) for each in findings(bundle, passnet=passnet)] == []
    assert unmatched(task, bundle) == []
    assert max(len(line) for file in bundle.passes for line in file.code.splitlines()) <= 120


def test_the_same_task_gets_the_same_bundle() -> None:
    for task_id in SOME[:5]:
        task = CORPUS.task(task_id)
        assert written(task).bundle.digest == written(CORPUS.task(task_id)).bundle.digest
