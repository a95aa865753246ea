"""What differs between two runs, in words and figures."""

from dataclasses import replace

import pytest

from passnet_core.graphs import source
from passnet_core.records import (
    Bundle,
    Clock,
    Contender,
    EvalSpec,
    Job,
    Outcome,
    PassFile,
    SolverKind,
    Speedup,
    Stage,
    Verdict,
)
from passnet_core.reports.comparison import (
    Change,
    Fate,
    OutcomePair,
    clock_changes,
    counted,
    diff_of,
    environment_rows,
    file_changes,
    only_in,
    order_changed,
    output_changes,
    pairs,
    spec_rows,
)
from tests.contract.made import of_clock
from tests.example_playground import REFERENCE, TIMED, answer, outcome, task

SUBGRAPH = task().subgraphs[0]
JOB = Job(SUBGRAPH, REFERENCE, TIMED)


def timed(low: float, value: float, high: float, who: Contender = Contender.PASSES) -> Outcome:
    made = outcome(Job(SUBGRAPH, REFERENCE if who is Contender.PASSES else None, TIMED), Verdict.FASTER)
    return replace(made, speedups=(Speedup(who, Clock.END_TO_END, value, low, high),))


def change(before: Outcome | None, after: Outcome | None) -> Change:
    return OutcomePair("", "", before, after).change


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((1.0, 1.1, 1.2), (1.3, 1.4, 1.5), Change.FASTER),
        ((1.3, 1.4, 1.5), (1.0, 1.1, 1.2), Change.SLOWER),
        ((1.0, 1.1, 1.3), (1.2, 1.4, 1.5), Change.NO_DIFFERENCE),
        ((1.0, 1.1, 1.2), (1.2, 1.3, 1.4), Change.NO_DIFFERENCE),
        ((1.0, 2.0, 9.0), (1.1, 1.2, 1.3), Change.NO_DIFFERENCE),
    ],
)
def test_faster_or_slower_is_where_the_intervals_do_not_overlap(
    before: tuple[float, float, float], after: tuple[float, float, float], expected: Change
) -> None:
    assert change(timed(*before), timed(*after)) is expected


def test_each_solver_is_compared_by_its_own_speedup() -> None:
    passes, inductor = timed(1.9, 2.0, 2.1), timed(0.9, 1.0, 1.1, Contender.BASELINE)
    assert inductor.solver is SolverKind.INDUCTOR
    assert change(inductor, passes) is Change.FASTER
    assert OutcomePair("", "", inductor, passes).ratio == pytest.approx(2.0)


def test_without_times_the_verdicts_are_compared() -> None:
    right, wrong = outcome(JOB, Verdict.VALUES_ONLY), outcome(JOB, Verdict.WRONG_VALUES)
    missed, fast = outcome(JOB, Verdict.NO_MATCH), timed(1.9, 2.0, 2.1)
    assert change(wrong, right) is Change.NOW_ACCEPTED
    assert change(fast, wrong) is Change.NO_LONGER_ACCEPTED
    assert change(wrong, missed) is Change.OTHER_VERDICT
    assert change(right, fast) is Change.OTHER_VERDICT
    assert change(missed, missed) is Change.SAME_VERDICT
    assert change(None, right) is Change.ONLY_AFTER
    assert change(right, None) is Change.ONLY_BEFORE
    assert change(right, replace(right, subgraph_digest="other")) is Change.OTHER_SUBGRAPH
    assert OutcomePair("", "", right, fast).ratio is None


def test_times_that_were_taken_in_different_ways_are_not_compared() -> None:
    slow, fast = (outcome(JOB, Verdict.FASTER, speedup=speedup) for speedup in (1.5, 3.0))
    older = of_clock(1, slow)
    assert OutcomePair("", "", slow, fast).change is Change.FASTER
    pair = OutcomePair("", "", older, fast)
    assert (pair.change, pair.ratio, pair.elsewhere) == (Change.SAME_VERDICT, None, ("clock version",))
    assert {(each.change, each.ratio) for each in clock_changes(older, fast)} == {(None, None)}


def test_every_subgraph_of_both_runs_has_its_place() -> None:
    first, second = (answer(Job(each, REFERENCE, EvalSpec())) for each in task().subgraphs)
    found = pairs([first], [second])
    assert [(each.subgraph_id, each.change) for each in found] == [
        (second.subgraph_id, Change.ONLY_AFTER),
        (first.subgraph_id, Change.ONLY_BEFORE),
    ]
    assert counted(found) == ((Change.ONLY_BEFORE, 1), (Change.ONLY_AFTER, 1))
    assert pairs([], []) == ()


def test_environments_are_compared_property_by_property() -> None:
    here = outcome(JOB, Verdict.VALUES_ONLY)
    there = outcome(JOB, Verdict.VALUES_ONLY, device="NVIDIA H200")
    assert OutcomePair("", "", here, there).elsewhere == ("device",)
    assert OutcomePair("", "", here, here).elsewhere == ()
    cancelled = replace(outcome(JOB, Verdict.CANCELLED), environment=None)
    assert OutcomePair("", "", here, cancelled).elsewhere == (), "nobody judged: there is nothing to compare"
    assert {row.what: row.after for row in environment_rows(here.environment, None) if row.differs}["device"] == "–"
    assert environment_rows(None, None) == ()
    differing = [row for row in spec_rows(EvalSpec(), EvalSpec(stage=Stage.CHECK, seed=7)) if row.differs]
    assert [(row.what, row.before, row.after) for row in differing] == [
        ("stage", "verify", "check"),
        ("seed", "drawn anew", "7"),
    ]


def test_files_are_added_removed_changed_or_identical() -> None:
    old = Bundle((PassFile("a.py", "x = 1\ny = 2\n"), PassFile("gone.py", "z\n")), (PassFile("same.py", "s\n"),))
    new = Bundle((PassFile("a.py", "x = 1\ny = 3\n"), PassFile("new.py", "n\n")), (PassFile("same.py", "s\n"),))
    found = {each.name: each for each in file_changes(old, new)}
    assert {name: each.fate for name, each in found.items()} == {
        "a.py": Fate.CHANGED,
        "new.py": Fate.ADDED,
        "gone.py": Fate.REMOVED,
        "same.py": Fate.SAME,
    }
    assert found["a.py"].diff.splitlines()[1:] == [" x = 1", "-y = 2", "+y = 3"]
    assert found["gone.py"].diff.splitlines()[1:] == ["-z"]
    assert found["same.py"].diff == ""
    assert all(each.fate is Fate.ADDED for each in file_changes(None, new))
    assert file_changes(None, None) == ()


def test_a_difference_in_line_ends_alone_is_said() -> None:
    assert diff_of("a\n", "a") == "@@ only the ends of lines differ @@"
    assert diff_of("a\n", "a\n") == ""


def test_the_order_of_passes_counts_among_those_that_both_have() -> None:
    one, two, three = (PassFile(f"{name}.py", "") for name in "abc")
    assert order_changed(Bundle((one, two)), Bundle((two, one)))
    assert not order_changed(Bundle((one, two)), Bundle((one, three, two)))
    assert not order_changed(None, Bundle((one, two)))


def test_a_node_is_another_where_its_name_or_its_operator_is() -> None:
    def graph(second: str) -> str:
        return f"def forward(self, x):\n    a = x + 1\n    b = {second}\n    return (b,)\n"

    plus, relu = (source.parse_function(graph(code), "forward") for code in ("a + 2", "torch.relu(a)"))
    assert only_in(plus, relu) == only_in(relu, plus) == {"b"}
    assert only_in(plus, plus) == set()


def test_clocks_and_outputs_stand_beside_each_other() -> None:
    fast, right = outcome(JOB, Verdict.FASTER), outcome(JOB, Verdict.VALUES_ONLY)
    wrong, checked = outcome(JOB, Verdict.WRONG_VALUES), replace(outcome(JOB, Verdict.NO_MATCH), accuracy=None)
    assert [each.clock for each in clock_changes(right, fast)] == list(Clock)
    assert clock_changes(right, fast)[0].change is None
    assert clock_changes(fast, fast)[0].change is Change.NO_DIFFERENCE
    assert clock_changes(right, wrong) == ()
    assert [each.words for each in output_changes(wrong, right)] == ["now close"]
    assert [each.words for each in output_changes(right, wrong)] == ["no longer close"]
    assert [each.words for each in output_changes(right, fast)] == ["the same level"]
    assert [each.words for each in output_changes(right, checked)] == ["compared in one run only"]
    assert output_changes(checked, checked) == ()
