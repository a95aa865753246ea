"""Explanations of a pass without a match: its attempts, and an edit that is tried as a person would try it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passnet_core.errors import BadInput
from passnet_core.graphs import explaining, mending
from passnet_core.graphs.explaining import ATTEMPTS, explained, pattern_from_text, pattern_to_text
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.matching import Matching, find_matches, plain_bind
from passnet_core.graphs.mending import changed, mended
from passnet_core.graphs.respelling import lines_changed, patched, respelled
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse_function
from passnet_core.operations.binding import Call
from passnet_core.records import MatchAttempt, MissKind, PassMatches, from_json, to_json


def source_of(code: str, name: str = "pattern") -> str:
    """A function from "parameters: statements; return ..."."""
    parameters, _, body = code.partition(": ")
    lines = "".join(f"    {line}\n" for line in body.split("; "))
    return f"import torch\n\n\ndef {name}({parameters}):\n{lines}"


def graph_of(code: str) -> Graph:
    return parse_function(source_of(code), "pattern")


def report_on(pattern: str, graph: str, **options: object) -> PassMatches:
    """The report on a pattern in a graph."""
    wanted, found = graph_of(pattern), graph_of(graph)
    matching = find_matches(wanted, found, keep=ATTEMPTS, **options)  # type: ignore[arg-type]
    return explained("p", wanted, found, matching, code=source_of(pattern), bind=plain_bind)


def nearest(pattern: str, graph: str, **options: object) -> MatchAttempt:
    report = report_on(pattern, graph, **options)
    assert report.miss is not None
    first = report.attempts[0]
    miss = report.miss
    assert (first.differences[0].pattern_node, first.differences[0].graph_node) == (miss.pattern_node, miss.graph_node)
    assert (first.differences[0].kind, first.differences[0].reason) == (miss.kind, miss.reason)
    return first


# --- attempts ---


@pytest.mark.parametrize(
    ("kind", "pattern", "graph", "anchor", "fitted", "failed"),
    [
        (
            MissKind.LITERAL,
            "a: s = torch.sin(a, 1); return torch.cos(s)",
            "x: p = torch.sin(x, 2); q = torch.cos(p); return q",
            ("cos", "q"), (("cos", "q"),), ("s", "p"),
        ),
        (
            MissKind.OPERATOR,
            "a, b: s = a - b; return torch.relu(s)",
            "x, y: p = x + y; q = torch.relu(p); return q",
            ("relu", "q"), (("relu", "q"),), ("s", "p"),
        ),
        (
            MissKind.NOT_RETURNED,
            "a, b: s = a + b; return torch.relu(s)",
            "x, y: p = x + y; q = torch.relu(p); return (q, p)",
            ("relu", "q"), (("relu", "q"),), ("s", "p"),
        ),
        (
            MissKind.USES,
            "a: s = torch.exp(a); return s * s",
            "x: p = torch.exp(x); q = torch.exp(x); r = p * q; return r",
            ("mul", "r"), (("mul", "r"), ("s", "p")), ("s", "q"),
        ),
        (MissKind.ABSENT, "a: return torch.erf(a)", "x: return torch.relu(x)", ("erf", None), (), ("erf", None)),
        (MissKind.OTHER, "a: return a", "x: return torch.relu(x)", ("a", None), (), ("a", None)),
    ],
)  # fmt: skip
def test_an_attempt_records_how_far_it_came_and_the_difference(
    kind: MissKind, pattern: str, graph: str, anchor: object, fitted: object, failed: object
) -> None:
    attempt = nearest(pattern, graph)
    difference = attempt.differences[0]
    assert difference.kind is kind
    assert (attempt.anchor, attempt.fitted) == (anchor, fitted)
    assert (difference.pattern_node, difference.graph_node) == failed


def test_an_attempt_reports_taken_nodes_and_unused_inputs() -> None:
    taken = nearest("a: return torch.relu(a)", "x: y = torch.relu(x); return y", taken={"y": "y is another's"})
    assert (taken.differences[0].kind, taken.anchor) == (MissKind.OVERLAP, ("relu", "y"))
    dead = nearest("a, b: return torch.relu(a)", "x: y = torch.relu(x); return y", needed={"b"})
    assert (dead.differences[0].kind, dead.anchor) == (MissKind.DEAD_INPUT, ("b", None))


def test_pairs_behind_a_difference_are_kept_separately() -> None:
    attempt = nearest(
        "a: s = torch.sin(a); t = torch.cos(s, 1); return torch.tan(t, 5)",
        "x: p = torch.sin(x); q = torch.cos(p, 2); r = torch.tan(q, 5); return r",
    )
    assert attempt.fitted == (("tan", "r"),)
    assert attempt.beyond == (("s", "p"),)
    assert len(attempt.differences) == 1


def test_every_anchor_is_tried_and_the_nearest_attempt_comes_first() -> None:
    pattern = "a: s = torch.sin(a, 1); return torch.cos(s)"
    graph = "x: p = torch.exp(x); q = torch.cos(p); r = torch.sin(q, 3); u = torch.cos(r); return u"
    attempts = report_on(pattern, graph).attempts
    assert [each.anchor for each in attempts] == [("cos", "u"), ("cos", "q")]
    assert "torch.e" in attempts[1].differences[0].reason


def test_the_kept_attempts_and_pairs_are_bounded() -> None:
    body = "".join(f"v{n} = torch.sin(x, {n}); " for n in range(1, 60))
    results = ", ".join(f"v{n}" for n in range(1, 60))
    report = report_on("a: return torch.sin(a, 0)", f"x: {body}return ({results})")
    assert (len(report.attempts), report.tried) == (ATTEMPTS, 59)
    chain = "".join(f"a = torch.sin(a, {n}); " for n in range(200))
    long = report_on(f"a: {chain}return torch.cos(a, 1)", f"a: {chain}return torch.cos(a, 2)")
    assert sum(len(each.fitted) + len(each.beyond) for each in long.attempts[:1]) == 60
    huge = "".join(f"a = torch.sin(a, {n}); " for n in range(2000))
    plain = report_on(f"a: {huge}return torch.cos(a, 1)", f"a: {huge}return torch.cos(a, 2)")
    assert plain.miss is not None
    assert (plain.pattern, plain.attempts, plain.edit) == ("", (), None)


def test_a_match_lists_its_pairs_and_the_values_of_its_inputs() -> None:
    report = report_on("a, b: return torch.relu(a + b)", "x: p = x + 1.5; q = torch.relu(p); return q")
    (pairing,) = report.pairings
    assert pairing.nodes == (("relu", "q"), ("add", "p"))
    assert pairing.inputs == (("a", "x"), ("b", "1.5"))
    assert from_json(PassMatches, json.loads(json.dumps(to_json(report)))) == report


@pytest.mark.parametrize("name", ["<b>", "a`b", 'quote"', "ü", "in\nline", "", "\ud800"])
def test_a_pattern_with_any_names_is_kept_exactly_or_not_at_all(name: str) -> None:
    nodes = (Node(name, NodeKind.INPUT, name), Node(f"{name}1", NodeKind.CALL, f"no.{name}", (Ref(name), float("nan"))))
    graph = Graph(nodes, (Ref(f"{name}1"), None))
    text = pattern_to_text(graph)
    if name == "\ud800":
        assert text == ""
    else:
        assert pattern_to_text(pattern_from_text(text)) == text


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"nodes": [1], "result": null}', "[" * 100_000])
def test_text_that_is_not_a_pattern_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        pattern_from_text(text)


def test_a_bundle_of_many_passes_is_explained_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "MOST_PASSES", 3)
    monkeypatch.setattr(explaining, "MOST_MENDED", 1)
    pattern = graph_of("a: return torch.sin(a, 1)")
    passes = [TracedPass(f"p{n}", pattern, graph_of("a: return (a,)"), "replacement_0") for n in range(5)]
    reports = rewrite(graph_of("x: y = torch.sin(x, 2); return y"), passes, explain={}).reports
    assert [bool(each.attempts) for each in reports] == [True, True, True, False, False]
    assert [each.edit is not None for each in reports] == [True, False, False, False, False]
    assert all(each.miss for each in reports)


# --- edits: applied to the source, which is parsed and matched again ---


def edited(pattern: str, graph: str, *, head: str = "") -> tuple[str, int, str]:
    """The function body after the edit, its number of matches, and the words that describe the edit."""
    code, found = head + source_of(pattern), graph_of(graph)
    wanted = parse_function(code, "pattern")
    matching = find_matches(wanted, found, keep=ATTEMPTS)
    assert not matching.matches
    edit = explained("p", wanted, found, matching, code=code, bind=plain_bind).edit
    assert edit is not None
    after = patched(code, edit.lines)
    assert after is not None
    assert edit.lines
    again = find_matches(parse_function(after, "pattern"), found)
    assert len(again.matches) == edit.matches
    return after.partition("):\n")[2].replace("\n    ", "; ").strip(), edit.matches, " ".join(edit.words)


LITERALS = [
    ("torch.sin(a, 1e-5)", "torch.sin(x, 1e-6)", "torch.sin(a, 1e-06)", "1e-06 instead of 1e-05"),
    ("torch.sin(a, dim=0)", "torch.sin(x, dim=1)", "torch.sin(a, dim=1)", "the argument dim"),
    ("a ** 2", "x ** 3", "a ** 3", "as the second operand of operator.pow"),
    ("torch.sum(a)", "torch.sum(x, keepdim=True)", "torch.sum(a, keepdim=True)", "keepdim=True"),
    ("torch.sum(a,)", "torch.sum(x, keepdim=True)", "torch.sum(a, keepdim=True)", "keepdim=True"),
    ("torch.sum(a, keepdim=True)", "torch.sum(x)", "torch.sum(a)", "Leave out"),
    ("a[:, 1:3]", "x[:, 1:4]", "a[:, 1:4]", "slice(1, 4, None)"),
    ("torch.sin('ü', a, 1)", "torch.sin('ü', x, 2)", "torch.sin('ü', a, 2)", "Write 2 instead of 1"),
    ("a * 2", "2 * x", "2 * a", "Swap"),
]
FORMS = [
    ("torch.relu(a)", "torch.nn.functional.relu(x)", "torch.nn.functional.relu(a)", "as the graph does"),
    ("torch.relu(a - 1) * 2", "(x - 1).relu() * 2", "(a - 1).relu() * 2", "the method relu"),
    ("a.relu()", "torch.relu(x)", "torch.relu(a)", "Call torch.relu"),
    ("torch.add(a, 1) * 2", "(x + 1) * 2", "(a + 1) * 2", "Call operator.add"),
    ("torch.relu(a)", "torch.relu_(x)", "torch.relu_(a)", "torch.relu_"),
    ("torch.relu(a + 1)", "torch.nn.functional.relu(x + 1)", "torch.nn.functional.relu(a + 1)", "as the graph does"),
]
INPUTS = [("a, b: return torch.mul(a, b)", "x: y = 1.7 * x; return y", "return a * b", "Call operator.mul")]
KEPT = "x, y: p = x + y; q = torch.relu(p); return (q, p)"
STATEMENTS = [
    (
        "a, b: return (a - b) + torch.sin(b)",
        "x, z: p = torch.sin(z); q = x - z; y = p + q; return y",
        "return (torch.sin(b)) + (a - b)",
        "Swap",
    ),
    (
        "a, b: s = a + b; return s * 2",
        "x, z: x += z; y = x * 2; return y",
        "a += b; s = a; return s * 2",
        "operator.iadd",
    ),
    (
        "a, b: a += b; return a * 2",
        "x, z: w = x + z; y = w * 2; return y",
        "a = a + b; return a * 2",
        "operator.add",
    ),
    ("a, b: s = a + b; return torch.relu(s)", KEPT, "s = a + b; return torch.relu(s), s", "Return s"),
    ("a, b: return (torch.relu(a + b),)", KEPT, "add = a + b; return (torch.relu(add), add)", "Return add"),
    (
        "a, b: t = torch.relu(a + b); return t, a",
        KEPT,
        "add = a + b; t = torch.relu(add); return t, a, add",
        "Return add",
    ),
]
ALONE = [
    (f"a: return {pattern}", f"x: y = {graph}; return y", f"return {after}", words)
    for pattern, graph, after, words in LITERALS + FORMS
]


@pytest.mark.parametrize(("pattern", "graph", "after", "words"), ALONE + INPUTS + STATEMENTS)
def test_each_kind_of_edit_is_described_tried_and_written(pattern: str, graph: str, after: str, words: str) -> None:
    written, matches, said = edited(pattern, graph)
    assert (written, matches) == (after, 1)
    assert words in said


def test_several_differences_are_mended_together() -> None:
    written, matches, words = edited(
        "a: s = a * 0.5; t = torch.relu(s); return torch.erf(t)",
        "x: p = x * 0.25; u = torch.nn.functional.relu(p); r = torch.erf(u); return (r, u)",
    )
    assert written == "s = a * 0.25; t = torch.nn.functional.relu(s); return torch.erf(t), t"
    assert matches == 1
    assert words.count(".") >= 3


def test_an_edit_that_only_comes_nearer_names_the_next_difference() -> None:
    report = report_on(
        "a: s = torch.sin(a); t = torch.cos(s, 1); return torch.tan(t)",
        "x: p = torch.exp(x); q = torch.cos(p, 2); r = torch.tan(q); return r",
    )
    assert report.edit is not None
    assert report.edit.matches == 0
    assert "torch.e" in report.edit.then
    assert report.edit.lines[0].new == "    t = torch.cos(s, 2)"


def test_calling_another_operation_is_not_an_edit() -> None:
    assert report_on("a: return torch.sin(a)", "x: y = torch.cos(x); return y").edit is None
    assert report_on("a, b: return torch.relu(a - b)", "x, y: p = x + y; q = torch.relu(p); return q").edit is None


def test_an_argument_is_changed_where_the_call_passes_it() -> None:
    def bind(node: Node) -> Call:
        if node.target == "torch.softmax":
            named = dict(zip(("self", "dim", "dtype"), node.args)) | dict(node.kwargs)
            return Call(node.target, tuple(sorted({"dtype": None, **named}.items())))  # type: ignore[arg-type]
        return plain_bind(node)

    wanted, found = graph_of("a: return torch.softmax(a, -1)"), graph_of("x: y = torch.softmax(x, dim=1); return y")
    better = mended(wanted, found, find_matches(wanted, found, bind=bind, keep=3), bind=bind)
    assert better is not None
    assert better.pattern.operations[0].args == (Ref("a"), 1)
    assert better.changes[0].words == (
        "Write 1 instead of -1 as argument 2 (dim) of torch.softmax (pattern node softmax)."
    )


@pytest.mark.parametrize(
    "code",
    [
        "def pattern(a):\n    for n in range(2):\n        a = torch.sin(a, 1)\n    return a\n",
        "def pattern(a):\n    return helper(a)\n",
        "def other(a):\n    return torch.sin(a, 1)\n",
        "def pattern(a):\n    return torch.sin(*a)\n",
        "def pattern(",
        "\x00",
    ],
)
def test_an_edit_has_no_lines_if_their_place_is_uncertain(code: str) -> None:
    wanted, found = (
        graph_of("a: s = torch.sin(a, 1); return torch.cos(s)"),
        graph_of("x: p = torch.sin(x, 2); return torch.cos(p)"),
    )
    matching = find_matches(wanted, found, keep=ATTEMPTS)
    edit = explained("p", wanted, found, matching, code=code, bind=plain_bind).edit
    assert edit is not None
    assert (edit.matches, edit.lines) == (1, ())


def test_trials_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(*args: object, **options: object) -> Matching:
        asked.append(1)
        return find_matches(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(mending, "find_matches", counted)
    chain = "; ".join(f"a = torch.sin(a, {n})" for n in range(30))
    other = "; ".join(f"a = torch.sin(a, {n + 100})" for n in range(30))
    report_on(f"a: {chain}; return torch.cos(a)", f"a: {other}; return torch.cos(a)")
    assert 0 < len(asked) <= mending.MOST_TRIALS


# --- properties ---

_OPERATIONS = (
    "torch.sin({0}, {2})",
    "{0} + {1}",
    "{0} * {2}",
    "torch.cos({0}, k={2})",
    "{0}.h({1})",
    "torch.relu({0})",
)
_STEPS = st.lists(
    st.tuples(st.sampled_from(_OPERATIONS), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)),
    min_size=1,
    max_size=6,
)


def program(steps: list[tuple[str, int, int, int]]) -> str:
    names = ["a", "b"]
    lines: list[str] = []
    for form, first, second, literal in steps:
        lines.append(f"v{len(lines)} = " + form.format(names[first % len(names)], names[second % len(names)], literal))
        names.append(f"v{len(lines) - 1}")
    return f"a, b: {'; '.join(lines)}; return {names[-1]}"


@given(_STEPS, _STEPS)
def test_explaining_does_not_change_the_matches_and_is_correct(
    wanted: list[tuple[str, int, int, int]], found: list[tuple[str, int, int, int]]
) -> None:
    pattern, graph, code = graph_of(program(wanted)), graph_of(program(found)), source_of(program(wanted))
    alone, matching = find_matches(pattern, graph), find_matches(pattern, graph, keep=ATTEMPTS)
    assert (alone.matches, alone.miss) == (matching.matches, matching.miss)
    report = explained("p", pattern, graph, matching, code=code, bind=plain_bind)
    if matching.matches:
        assert report.attempts == ()
        assert report.edit is None
        return
    miss = report.attempts[0].differences[0]
    assert matching.miss is not None
    assert (miss.kind, miss.reason) == (matching.miss.kind, matching.miss.reason)
    for attempt in report.attempts:
        pairs = (*attempt.fitted, *attempt.beyond)
        assert len({name for name, _ in pairs}) == len({node for _, node in pairs}) == len(pairs)
        assert all(name in pattern.by_name and node in graph.by_name for name, node in pairs)
    if report.edit is None:
        return
    better = mended(pattern, graph, matching, bind=plain_bind)
    assert better is not None
    by_hand = pattern
    for change in better.changes:
        by_hand = changed(by_hand, change)
    again = find_matches(by_hand, graph, keep=1)
    assert len(again.matches) == report.edit.matches
    assert again.matches or again.nearness > matching.nearness
    if report.edit.lines:
        after = patched(code, report.edit.lines)
        assert after == respelled(code, pattern, better.changes)
        assert after is not None
        assert len(find_matches(parse_function(after, "pattern"), graph).matches) == report.edit.matches


@given(st.data())
def test_a_pattern_whose_literals_alone_differ_is_always_mended(data: st.DataObject) -> None:
    steps = data.draw(_STEPS)
    other = [(form, first, second, data.draw(st.integers(0, 2))) for form, first, second, _ in steps]
    pattern, graph = program(steps), program(other)
    matching = find_matches(graph_of(pattern), graph_of(graph), keep=ATTEMPTS)
    if matching.matches or all(each.kind is not MissKind.LITERAL for each in matching.attempts[0].differences):
        return
    report = report_on(pattern, graph)
    assert report.edit is not None
    assert report.edit.lines


_TEXTS = st.lists(st.sampled_from(["a", "b", "", "  c", "ü"]), max_size=8).map("\n".join)


@given(_TEXTS, _TEXTS)
def test_lines_that_changed_turn_one_text_into_the_other(before: str, after: str) -> None:
    changes = lines_changed(before, after)
    assert patched(before, changes) == after
    assert bool(changes) == (before != after)


def test_lines_that_changed_since_are_not_replaced() -> None:
    changes = lines_changed("a\nb\nc", "a\nx\nc")
    assert patched("a\nb2\nc", changes) is None
    assert patched("", changes) is None
    assert patched("a\nb", changes) == "a\nx"
