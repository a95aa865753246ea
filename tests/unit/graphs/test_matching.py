import sys
from collections import Counter
from types import FrameType

import pytest

from passnet_core.graphs import matching as matching_module
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.matching import Matching, find_matches, plain_bind
from passnet_core.graphs.source import parse_function
from passnet_core.operations.binding import Call
from passnet_core.records import MissKind


def graph_of(code: str) -> Graph:
    """A graph from "parameters: statements; return ..."."""
    parameters, _, body = code.partition(": ")
    return parse_function(f"def f({parameters}):\n    {body}\n", "f")


def matching(pattern: str, graph: str, **options: object) -> Matching:
    return find_matches(graph_of(pattern), graph_of(graph), **options)  # type: ignore[arg-type]


def matched(pattern: str, graph: str) -> list[tuple[str, ...]]:
    found = matching(pattern, graph)
    assert (found.miss is None) == bool(found.matches)
    return [match.names for match in found.matches]


def missed(pattern: str, graph: str, **options: object) -> tuple[MissKind, str, str | None, str]:
    found = matching(pattern, graph, **options)
    assert not found.matches
    assert found.miss is not None
    return found.miss.kind, found.miss.pattern_node, found.miss.graph_node, found.miss.reason


def test_every_occurrence_is_found_in_graph_order() -> None:
    found = matching(
        "a, b: s = a + b; return torch.relu(s)",
        "x, y: p = x + y; q = torch.relu(p); r = q + 1; t = torch.relu(r); return (q, t)",
    )
    assert [match.names for match in found.matches] == [("p", "q"), ("r", "t")]
    assert found.matches[0].nodes == {"s": "p", "relu": "q"}
    assert found.matches[0].inputs == {"a": Ref("x"), "b": Ref("y")}
    assert found.matches[1].inputs == {"a": Ref("q"), "b": 1}


def test_matches_do_not_overlap() -> None:
    pattern = "a: p = torch.relu(a); return torch.relu(p)"
    assert matched(pattern, "x: a = torch.relu(x); b = torch.relu(a); c = torch.relu(b); return c") == [("a", "b")]
    assert matched(
        pattern, "x: a = torch.relu(x); b = torch.relu(a); c = torch.relu(b); d = torch.relu(c); return d"
    ) == [
        ("a", "b"),
        ("c", "d"),
    ]


@pytest.mark.parametrize(
    ("wanted", "given", "fits"),
    [
        ("1", "1.0", True),
        ("1", "True", False),
        ("0", "False", False),
        ("0.5", "0.25", False),
        ("float('nan')", "float('nan')", True),
        ("None", "None", True),
        ("None", "0", False),
        ("'ij'", "'ij'", True),
        ("(1, 2)", "[1, 2]", True),
        ("(1, 2)", "(1, 2, 3)", False),
        ("slice(1, None, None)", "slice(1, None)", True),
        ("torch.float32", "torch.float32", True),
        ("torch.float32", "torch.float16", False),
        ("torch.device('cuda')", "torch.device('cuda:0')", True),
        ("torch.device('cuda', 1)", "torch.device('cuda:0')", False),
        ("1", "x", False),
    ],
)
def test_literals_are_compared_by_value_not_by_spelling(wanted: str, given: str, fits: bool) -> None:
    found = matching(f"a: return torch.sin(a, {wanted})", f"x: y = torch.sin(x, {given}); return y")
    assert bool(found.matches) == fits
    if not fits:
        assert found.miss is not None
        assert found.miss.kind is MissKind.LITERAL
        assert found.miss.graph_node == "y"


def test_a_list_as_an_index_does_not_match_a_tuple() -> None:
    assert matched("a: return a[[0, 1]]", "x: y = x[[0, 1]]; return y") == [("y",)]
    assert missed("a: return a[(0, 1)]", "x: y = x[[0, 1]]; return y")[0] is MissKind.LITERAL


def test_a_pattern_input_matches_any_value_but_the_same_everywhere() -> None:
    found = matching("a, shape: return a.view(shape)", "x, n: y = x.view((n, -1)); return y")
    assert found.matches[0].inputs == {"a": Ref("x"), "shape": (Ref("n"), -1)}
    assert matched("a: return a * a", "x, y: z = x * x; return z") == [("z",)]
    assert matched("a, b: return a * b", "x: z = x * x; return z") == [("z",)]
    kind, _, node, reason = missed("a: return a * a", "x, y: z = x * y; return z")
    assert (kind, node) == (MissKind.LITERAL, "z")
    assert reason == (
        "The pattern uses its input a in several places, but the graph has different values there: x and y (node z)."
    )


def test_spellings_of_one_call_are_equal_under_a_bind() -> None:
    def bind(node: Node) -> Call:
        if node.target == "torch.softmax":
            named = dict(zip(("input", "dim", "dtype"), node.args)) | dict(node.kwargs)
            return Call("torch.softmax", tuple(sorted({"dtype": None, **named}.items())))
        return plain_bind(node)

    pattern, graph = "a: return torch.softmax(a, -1)", "x: y = torch.softmax(dim=-1, input=x, dtype=None); return y"
    assert [match.names for match in matching(pattern, graph, bind=bind).matches] == [("y",)]
    assert missed(pattern, graph)[0] is MissKind.LITERAL
    assert missed(pattern, graph, bind=bind, pattern_bind=plain_bind)[0] is MissKind.LITERAL


def test_several_results_are_found_together() -> None:
    pattern = "a, b: s = a + b; return torch.relu(s), s"
    assert matched(pattern, "x, y: p = x + y; q = torch.relu(p); r = p * 2; return (q, r)") == [("p", "q")]


def test_results_that_share_only_inputs_are_found_together_and_in_order() -> None:
    found = matching(
        "q, k, c: q1 = q * c; k1 = k * c; return q1, k1",
        "a, b, c, d: w = a * c; x = b * c; y = a * d; z = b * d; return (w, x, y, z)",
    )
    assert [match.names for match in found.matches] == [("w", "x"), ("y", "z")]
    assert found.matches[1].inputs == {"q": Ref("a"), "c": Ref("d"), "k": Ref("b")}


def test_another_operator_is_reported() -> None:
    kind, pattern_node, node, reason = missed(
        "a, b: s = a - b; return torch.relu(s)", "x, y: p = x + y; q = torch.relu(p); return q"
    )
    assert (kind, pattern_node, node) == (MissKind.OPERATOR, "s", "p")
    assert reason == (
        "For argument 1 of torch.relu, the pattern has operator.sub, but the graph has operator.add (node p)."
    )


def test_the_same_operator_in_another_spelling_is_reported() -> None:
    kind, _, node, reason = missed("a: return torch.relu(a)", "x: y = torch.nn.functional.relu(x); return y")
    assert (kind, node) == (MissKind.OPERATOR, "y")
    assert reason == (
        "The graph calls torch.nn.functional.relu (node y) where the pattern calls torch.relu. "
        "They may compute the same, but a pattern matches only the function that it calls: call the graph's."
    )
    assert "calls the method relu" in missed("a: return torch.relu(a)", "x: y = x.relu(); return y")[3]


def test_the_node_after_which_the_graph_differs_is_reported() -> None:
    found = matching(
        "a, b: m = a * 2; s = m + b; return torch.relu(s)",
        "x, y: p = x * 2; q = p + y; r = torch.sigmoid(q); return torch.relu(r)",
    )
    assert found.miss is not None
    assert found.miss.reason == (
        "After q (operator.add), the pattern has torch.relu, but the graph has torch.sigmoid (node r)."
    )
    assert (found.miss.pattern_node, found.miss.graph_node) == ("relu", "r")
    assert found.miss.matched == (("m", "p"), ("s", "q"))


def test_operands_in_another_order_are_reported_where_only_a_part_fits() -> None:
    reason = missed("a, b: m = torch.relu(a); return torch.sigmoid(b * m)", "x, y: p = torch.relu(x); return p * y")[3]
    assert "both have operator.mul" in reason
    assert "the graph has its operands in another order. Write them as the graph does." in reason


def test_a_difference_in_the_middle_is_reported_if_the_end_is_missing() -> None:
    kind, pattern_node, node, reason = missed(
        "a: s = torch.exp(a); t = torch.sum(s, dim=-1); return torch.erf(t)",
        "x: p = torch.exp(x); q = torch.sum(p, dim=0); return q",
    )
    assert (kind, pattern_node, node) == (MissKind.LITERAL, "t", "q")
    assert reason == "The argument dim of torch.sum is -1 in the pattern, but 0 in the graph (node q)."


def test_an_absent_operator_is_reported() -> None:
    assert missed("a: return torch.erf(a)", "x: return torch.relu(x)") == (
        MissKind.ABSENT,
        "erf",
        None,
        "The graph has no torch.erf.",
    )


def test_different_arguments_are_reported() -> None:
    kind, pattern_node, node, reason = missed(
        "a: s = torch.sum(a, dim=-1); return s / 2", "x: p = torch.sum(x, dim=1); q = p / 2; return q"
    )
    assert (kind, pattern_node, node) == (MissKind.LITERAL, "s", "p")
    assert reason == "The argument dim of torch.sum is -1 in the pattern, but 1 in the graph (node p)."
    reason = missed("a: return torch.sum(a)", "x: p = torch.sum(x, keepdim=True); return p")[3]
    assert reason == "The argument keepdim of torch.sum is given only in the graph (node p), as True."
    reason = missed("a: return torch.add(torch.exp(a), 1)", "x: p = torch.add(2, 1); return p")[3]
    assert reason == "Argument 1 of torch.add comes from torch.exp in the pattern, but is 2 in the graph (node p)."
    reason = missed("a: return torch.add(torch.exp(a), 1)", "x: p = torch.add(x, 1); return p")[3]
    assert reason == "In the pattern, argument 1 of torch.add comes from torch.exp; in the graph it is the input x."


def test_swapped_operands_are_reported() -> None:
    kind, _, node, reason = missed("a: return a * 2", "x: y = 2 * x; return y")
    assert (kind, node) == (MissKind.LITERAL, "y")
    assert reason == (
        "The graph has the operands of operator.mul in the opposite order: 2, then x (node y). "
        "Swap them in the pattern."
    )


def test_a_value_used_outside_must_be_returned() -> None:
    pattern = "a, b: s = a + b; return torch.relu(s)"
    kind, pattern_node, node, reason = missed(pattern, "x, y: p = x + y; q = torch.relu(p); r = p * 2; return (q, r)")
    assert (kind, pattern_node, node) == (MissKind.NOT_RETURNED, "s", "p")
    assert reason == (
        "p (operator.add) is needed outside the match: r also uses it. "
        "Return s from the pattern, and its value from the replacement."
    )
    assert "the graph returns it" in missed(pattern, "x, y: p = x + y; q = torch.relu(p); return (q, p)")[3]


def test_a_different_number_of_uses_is_reported() -> None:
    once = "a: s = torch.exp(a); return s * s"
    kind, _, node, reason = missed(once, "x: p = torch.exp(x); q = torch.exp(x); r = p * q; return r")
    assert (kind, node) == (MissKind.USES, "q")
    assert reason == (
        "The pattern computes s once and uses it in several places; the graph computes p and q separately for them."
    )
    twice = "a: s = torch.exp(a); t = torch.exp(a); return s * t"
    assert missed(twice, "x: p = torch.exp(x); r = p * p; return r")[0] is MissKind.USES
    kind, _, node, reason = missed("a, b: s = torch.exp(a); return s * b", "x: p = torch.exp(x); r = p * p; return r")
    assert (kind, node) == (MissKind.USES, "p")
    assert reason.endswith("the graph uses p once more than the pattern uses s.")


def test_an_unused_pattern_input_matters_only_if_the_replacement_reads_it() -> None:
    pattern, graph = "a, b: return torch.relu(a)", "x: y = torch.relu(x); return y"
    assert matched(pattern, graph) == [("y",)]
    assert [match.names for match in matching(pattern, graph, needed={"a"}).matches] == [("y",)]
    kind, pattern_node, _, reason = missed(pattern, graph, needed={"a", "b"})
    assert (kind, pattern_node) == (MissKind.DEAD_INPUT, "b")
    assert "leave it out of replacement_args" in reason


def test_unused_operations_of_a_pattern_do_not_matter() -> None:
    assert matched("a: b = torch.exp(a); return torch.relu(a)", "x: y = torch.relu(x); return y") == [("y",)]


def test_an_operation_between_the_matched_ones_is_reported() -> None:
    kind, _, node, reason = missed(
        "a, b: s = torch.exp(a); return s, s * b",
        "x: p = torch.exp(x); q = torch.sin(p); r = p * q; return r",
    )
    assert (kind, node) == (MissKind.OTHER, "q")
    assert reason.startswith("q lies between the matched operations")


def test_two_matches_that_depend_on_each_other_are_not_both_accepted() -> None:
    pattern = "a, b: return torch.exp(a), torch.sin(b)"
    graph = "x: p = torch.exp(x); q = torch.sin(p); r = torch.exp(x); t = torch.sin(r); return (q, t)"
    assert matched(pattern, graph) == [("p", "t")]


def test_a_pattern_of_operations_in_place_matches() -> None:
    assert matched("a, b: a += b; return a", "x, y: x += y; z = x; return z") == [("z",)]
    assert matched("a: return torch.relu_(a)", "x: y = torch.relu_(x); return y") == [("y",)]
    assert matched("a, b: z = torch.zeros(3); z[0] = b; return z", "x, y: w = torch.zeros(3); w[0] = y; return w") == [
        ("w", "setitem")
    ]


def test_no_read_moves_across_a_change_in_place() -> None:
    kind, _, node, reason = missed(
        "a: s = torch.exp(a); t = torch.sin(a); return s, t",
        "x: p = torch.exp(x); x += 1; y = x; q = torch.sin(x); r = torch.cos(p); return (q, r)",
    )
    assert kind is MissKind.LITERAL
    kind, _, node, reason = missed(
        "a, v: s = torch.exp(a); t = torch.sin(v); return s, t",
        "x: v = x.view(-1); p = torch.exp(x); x += 1; q = torch.sin(v); return (p, q)",
    )
    assert (kind, node) == (MissKind.OTHER, "x_1")
    assert "one call would break the order of changes in place" in reason


def test_a_changed_value_must_not_be_read_by_its_old_name() -> None:
    pattern = "a: b = torch.nn.functional.relu(a, inplace=True); return b * 2"
    graph = "x: p = x + 1; q = torch.nn.functional.relu(p, inplace=True); r = q * 2; "
    assert matched(pattern, graph + "return r") == [("q", "r")]
    kind, _, node, reason = missed(pattern, graph + "t = p * 3; return (r, t)")
    assert (kind, node) == (MissKind.NOT_RETURNED, "q")
    assert reason.startswith("q changes p in place, and t reads it afterwards as p")
    assert "the result of the graph reads it" in missed(pattern, graph + "return (r, p)")[3]


def test_taken_nodes_are_reported() -> None:
    kind, _, node, reason = missed(
        "a: return torch.relu(a)", "x: y = torch.relu(x); return y", taken={"y": "y belongs to the first pass"}
    )
    assert (kind, node, reason) == (MissKind.OVERLAP, "y", "Y belongs to the first pass.")


@pytest.mark.parametrize("pattern", ["a: return a", "a: return 1", "a: return (a, a)"])
def test_a_pattern_that_computes_nothing_matches_nothing(pattern: str) -> None:
    assert missed(pattern, "x: y = torch.relu(x); return y")[0] is MissKind.OTHER


def test_long_chains_are_matched() -> None:
    chain = "".join(f"x = torch.exp(x); x = x + {index}; " for index in range(1000))
    assert [len(names) for names in matched(f"x: {chain} return x", f"x: {chain} return x")] == [2000]


def test_a_search_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching_module, "BUDGET", 30_000)
    results = ", ".join(f"torch.exp(a_{index})" for index in range(12))
    pattern = f"{', '.join(f'a_{index}' for index in range(12))}, b: return {results}, torch.sin(b, 1)"
    body = "".join(f"y_{index} = torch.exp(x); " for index in range(40))
    kind, _, _, reason = missed(pattern, f"x: {body} z = torch.sin(x, 2); return z")
    assert kind is MissKind.OTHER
    assert reason.startswith("The search was given up after 30000 steps")
    many = ", ".join(f"torch.exp(a, {index})" for index in range(100))
    assert "separate results" in missed(f"a: return {many}", "x: return torch.exp(x)")[3]


def calls_of_a_search(layers: int) -> int:
    """How many functions are called to find a pattern in each of so many layers."""
    pattern = graph_of("a, b, s: m = torch.sin(a) * s; return torch.relu(m + b)")
    lines = (f"a = torch.sin(x_{i}); b = a * {i}; c = b + x_{i}; x_{i + 1} = torch.relu(c);" for i in range(layers))
    graph = graph_of(f"x_0: {' '.join(lines)} return x_{layers}")
    counts = Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        counts[event] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = find_matches(pattern, graph)
    finally:
        sys.setprofile(before)
    assert len(found.matches) == layers
    return counts["call"] + counts["c_call"]


def test_the_work_of_a_search_grows_no_faster_than_the_graph() -> None:
    assert calls_of_a_search(900) < 2.2 * calls_of_a_search(450)


def test_equal_literals_of_different_types_stay_distinct() -> None:
    nodes = (
        Node("x", NodeKind.INPUT, ""),
        Node("a", NodeKind.CALL, "torch.add", (Ref("x"), True)),
        Node("b", NodeKind.CALL, "torch.add", (Ref("x"), 1)),
    )
    found = find_matches(graph_of("a: return torch.add(a, 1)"), Graph(nodes, (Ref("a"), Ref("b"))))
    assert [match.names for match in found.matches] == [("b",)]
