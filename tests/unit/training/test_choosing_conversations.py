"""Which conversations are exported, what counts as equal, and how they are divided without a leak."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passnet_core.records import Bundle, EvalSpec, Family, PassFile, Stage, Subgraph, Task, TensorSpec, Verdict
from passnet_core.records.trajectories import Trajectory
from passnet_core.training.choosing import ExportChoice, Relations, chosen, divided, families, fingerprints, gist
from tests.unit.training.made_conversations import RIGHT, RIGHT_IN_OTHER_WORDS, WRONG, never_right, right_at_once

SOURCE = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x):
        {body}
        return (y,)
"""


def task(name: str, *bodies: str, split: str = "train") -> Task:
    inputs = (TensorSpec("x", (4, 4), "float32"),)
    members = tuple(
        Subgraph(f"float32/{number}", name, "model", SOURCE.format(body=body), inputs)
        for number, body in enumerate(bodies)
    )
    return Task(name, Family.FUSIBLE, split, members)


def related(*tasks: Task) -> Relations:
    known = {each.id: each for each in tasks}
    return Relations(known.get)


def names(found: "list[Trajectory] | tuple[Trajectory, ...]") -> list[str]:
    return [each.opening.task_id for each in found]


def timed(name: str, speedup: float | None, clock: int = 5) -> Trajectory:
    made = right_at_once(name, spec=EvalSpec(Stage.MEASURE), clock_version=clock)
    assert made.ending is not None
    verdicts = ((Verdict.FASTER, 1), (Verdict.SLOWER, 1)) if name == "mixed" else ((Verdict.FASTER, 2),)
    return replace(made, ending=replace(made.ending, speedup=speedup, verdicts=verdicts))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ExportChoice(), ["fast", "slow", "old", "mixed", "values"]),
        (ExportChoice(failed=True), ["fast", "slow", "old", "mixed", "values", "failed"]),
        (ExportChoice(at_least=0.5), ["fast", "slow", "old", "mixed", "values", "failed"]),
        (ExportChoice(faster_than=1.5), ["fast", "old", "mixed"]),
        (ExportChoice(verdicts=frozenset({Verdict.FASTER})), ["fast", "slow", "old"]),
        (ExportChoice(clock_version=5), ["fast", "slow", "mixed"]),
        (ExportChoice(stage=Stage.VERIFY), ["values"]),
        (ExportChoice(split="eval"), ["held"]),
    ],
    ids=lambda each: "" if isinstance(each, list) else str(each.split),
)
def test_the_filters(choice: ExportChoice, expected: list[str]) -> None:
    unfinished = replace(right_at_once("unfinished"), ending=None)
    silent = replace(right_at_once("silent"), turns=())
    found = [
        timed("fast", 2.0), timed("slow", 1.5), timed("old", 3.0, clock=4), timed("mixed", 1.6),
        right_at_once("values"), never_right(), right_at_once("held", split="eval"), unfinished, silent,
    ]  # fmt: skip
    assert names(list(chosen(found, choice, related(), frozenset()))) == expected


def test_of_bundles_that_differ_in_layout_and_comments_the_first_is_kept_for_each_task() -> None:
    found = [
        right_at_once("one"),
        right_at_once("one", RIGHT_IN_OTHER_WORDS, id="other words"),
        right_at_once("one", WRONG, id="other code"),
        right_at_once("two"),
    ]
    kept = [each.opening.id for each in chosen(found, ExportChoice(), related(), frozenset())]
    assert kept == ["id-one", "other code", "id-two"]


def test_code_that_python_cannot_read_is_compared_too() -> None:
    def of(code: str) -> str:
        return gist(Bundle((PassFile("a.py", code),)))

    assert of("def (:\n  1") == of("def (:\n\n     1")
    assert of("def (:\n  1") != of("def (:\n  2")
    assert of(RIGHT) != of(WRONG)


def test_no_task_with_any_subgraph_of_an_eval_task_is_exported() -> None:
    held = task("held", "y = x + 1", "y = torch.relu(x)", split="eval")
    tasks = [
        task("first alike", "y = x + 1"),
        task("second alike", "y = x * 2", "y = torch.relu(x)"),
        task("other argument", "y = x + 7"),
        task("other", "y = x * 2"),
    ]
    found = [right_at_once(each.id, operators=(each.id,)) for each in tasks]
    exported = names(list(chosen(found, ExportChoice(), related(*tasks), fingerprints(held))))
    assert exported == ["other"]


def test_a_task_that_is_no_longer_there_is_held_back_by_what_its_record_tells() -> None:
    held = task("held", "y = x + 1", split="eval")
    gone = right_at_once("gone", operators=("x",), subgraphs=(held.subgraphs[0].digest,))
    assert list(chosen([gone], ExportChoice(), related(), fingerprints(held))) == []


def test_families_are_connected_through_any_subgraph() -> None:
    tasks = [
        task("a", "y = x + 1"),
        task("b", "y = x + 1", "y = torch.relu(x)"),
        task("c", "y = torch.relu(x)"),
        task("d", "y = x * 2"),
    ]
    found = families({each.id: fingerprints(each) for each in tasks})
    assert sorted(map(sorted, found)) == [["a", "b", "c"], ["d"]]


@given(
    st.dictionaries(st.integers(0, 30).map(str), st.frozensets(st.integers(0, 20).map(str), min_size=1), min_size=2),
    st.floats(0.05, 0.95),
)
def test_no_fingerprint_is_on_both_sides_and_nothing_is_lost(keys: dict[str, frozenset[str]], share: float) -> None:
    class Known(Relations):
        def of(self, opening: object) -> frozenset[str]:
            return keys[opening.task_id]  # type: ignore[attr-defined]

    found = [right_at_once(name) for name in keys]
    training, validation = divided(found, share, Known(lambda name: None))
    assert sorted(names(training + validation)) == sorted(keys)
    first = {key for each in training for key in keys[each.opening.task_id]}
    second = {key for each in validation for key in keys[each.opening.task_id]}
    assert not first & second
    assert training


def test_about_the_share_is_for_validation() -> None:
    found = [
        right_at_once(f"task-{number}", subgraphs=(str(number),), operators=(str(number),)) for number in range(40)
    ]
    _, validation = divided(found, 0.25, related())
    assert len(validation) == 10
    assert divided(found, 0.25, related()) == divided(found, 0.25, related())
