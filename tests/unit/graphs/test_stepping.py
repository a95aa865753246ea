"""A match report as steps: every match and every attempt, even if an older outcome recorded only its nearest miss."""

from passnet_core.graphs import stepping
from passnet_core.graphs.explaining import ATTEMPTS, explained, pattern_from_text
from passnet_core.graphs.matching import find_matches, plain_bind
from passnet_core.graphs.rendering import PairMark
from passnet_core.graphs.source import parse_function
from passnet_core.graphs.stepping import Paired
from passnet_core.records import MatchReport, MissKind, NearestMiss, PassMatches

GRAPH = parse_function(
    "def f(x, y):\n    p = x + y\n    q = torch.relu(p)\n    r = q + q\n    t = torch.relu(r)\n    return (t,)\n", "f"
)
ADD_RELU = "def pattern(a, b):\n    return torch.relu(a + b)\n"
SUB_RELU = "def pattern(a, b):\n    return torch.relu(a - b)\n"


def report_on(name: str, code: str) -> PassMatches:
    pattern = parse_function(code, "pattern")
    return explained(name, pattern, GRAPH, find_matches(pattern, GRAPH, keep=ATTEMPTS), code=code, bind=plain_bind)


def test_steps_go_through_all_matches_and_attempts_pass_by_pass() -> None:
    steps = stepping.steps(MatchReport((report_on("first", ADD_RELU), report_on("second", SUB_RELU))))
    assert [(each.place, each.name, each.number, each.total) for each in steps] == [
        ("1.1", "first", 1, 2), ("1.2", "first", 2, 2), ("2.1", "second", 1, 2), ("2.2", "second", 2, 2),
    ]  # fmt: skip
    assert [each.failed is None for each in steps] == [True, True, False, False]
    assert steps[0].pairs == (
        Paired("1", "relu", "q"), Paired("2", "add", "p"), Paired("a", "a", "x"), Paired("b", "b", "y"),
    )  # fmt: skip


def test_both_sides_have_the_same_marks_and_other_matches_are_faint() -> None:
    report = MatchReport((report_on("first", ADD_RELU),))
    second = stepping.steps(report)[1]
    of_graph = stepping.graph_marks(report, second, GRAPH)
    of_pattern = stepping.pattern_marks(report, second)
    assert of_graph.pairs == {
        "t": PairMark("1", "the pattern's relu", 1), "r": PairMark("2", "the pattern's add", 1),
        "q": PairMark("a,b", "the pattern's a, b", 1),
    }  # fmt: skip
    assert {name: each.mark for name, each in of_pattern.pairs.items()} == {"relu": "1", "add": "2", "a": "a", "b": "b"}
    assert of_pattern.groups == {"relu": 1, "add": 1}
    assert set(of_graph.faint) == {"p", "q"}
    assert set(of_graph.focus) == {"r", "t"}
    pattern = pattern_from_text(report.passes[0].pattern)
    assert of_pattern.nodes <= set(pattern.by_name)


def test_an_attempt_marks_what_fitted_and_what_failed_on_both_sides() -> None:
    report = MatchReport((report_on("second", SUB_RELU),))
    step = stepping.steps(report)[0]
    of_graph, of_pattern = stepping.graph_marks(report, step, GRAPH), stepping.pattern_marks(report, step)
    assert (of_graph.miss, of_pattern.miss) == ("p", "sub")
    assert of_graph.reason == of_pattern.reason == step.differences[0].reason
    assert (of_graph.pairs["q"].mark, of_pattern.pairs["relu"].mark) == ("1", "1")
    assert {"p", "q", "r", "t"} <= of_graph.nodes, "nodes of other attempts stay unfolded"


def test_older_outcomes_can_be_stepped_through_too() -> None:
    miss = NearestMiss(MissKind.LITERAL, "add", "p", "It differs.", (("relu", "q"), ("add", "p")))
    report = MatchReport((PassMatches("old", (("p", "q"), ("r", "t"))), PassMatches("missed", (), miss)))
    first, second, third = stepping.steps(report)
    assert (first.pairs, second.nodes) == ((), ("r", "t"))
    assert third.pairs == (Paired("1", "relu", "q"),)
    assert third.failed is not None
    assert third.failed.reason == "It differs."
    assert stepping.graph_marks(report, third, GRAPH).miss == "p"
    assert stepping.steps(MatchReport((PassMatches("mute", ()),))) == ()


def test_many_inputs_have_different_letters() -> None:
    names = [f"v{n}" for n in range(60)]
    code = f"def pattern({', '.join(names)}):\n    return torch.cat([{', '.join(names)}])\n"
    graph = parse_function(code, "pattern")
    report = explained("p", graph, graph, find_matches(graph, graph), bind=plain_bind)
    marks = [each.mark for each in stepping.steps(MatchReport((report,)))[0].pairs]
    assert len(set(marks)) == 61
    assert marks[1:4] == ["a", "b", "c"]
