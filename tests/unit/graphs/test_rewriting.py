import random

import pytest

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.graphs.rewriting import Rewriting, TracedPass, rewrite
from passnet_core.graphs.source import emit, parse_function
from passnet_core.records import MissKind


def graph_of(code: str) -> Graph:
    """A graph from "parameters: statements; return ..."."""
    parameters, _, body = code.partition(": ")
    return parse_function(f"def f({parameters}):\n    {body}\n", "f")


def traced(pattern: str, arguments: str | None = None, number: int = 0) -> TracedPass:
    parameters = pattern.partition(": ")[0]
    given = graph_of(arguments or f"{parameters}: return ({parameters},)")
    return TracedPass(f"pass_{number}", graph_of(pattern), given, f"replacement_{number}")


def rewritten(graph: str, *passes: TracedPass) -> Rewriting:
    return rewrite(graph_of(graph), passes)


def body(rewriting: Rewriting) -> list[str]:
    lines = emit(rewriting.graph).splitlines()
    return [line.strip() for line in lines[lines.index("class GraphModule(torch.nn.Module):") + 3 :]]


def test_a_match_becomes_one_call_under_the_old_name() -> None:
    result = rewritten(
        "x, y: p = x + y; q = torch.relu(p); r = q * 2; return (r,)",
        traced("a, b: s = a + b; return torch.relu(s)"),
    )
    assert body(result) == ["q = replacement_0(x, y)", "r = q * 2", "return (r,)"]
    assert result.reports[0].matches == (("p", "q"),)
    assert result.reports[0].miss is None
    assert result.calls == (("replacement_0", "q"),)


@pytest.mark.parametrize("change", ["torch.relu_(a)", "torch.relu_(a.reshape(-1))", "torch.sin(a, out=a)"])
def test_a_later_pass_moves_nothing_across_what_an_earlier_one_changes(change: str) -> None:
    result = rewritten(
        f"a, b: s = a + b; v = {change}; y = torch.cos(s); return (y, v)",
        traced(f"a: return {change}", number=0),
        traced("a, b: return torch.cos(a + b)", number=1),
    )
    calls = [line for line in body(result) if "replacement" in line]
    assert calls == ["y = replacement_1(a, b)", "v = replacement_0(a)"]


def test_several_results_come_out_of_a_tuple() -> None:
    result = rewritten(
        "x, y: p = x + y; q = torch.relu(p); r = p * q; return (r, p)",
        traced("a, b: s = a + b; return torch.relu(s), s"),
    )
    assert body(result) == ["fused = replacement_0(x, y)", "q = fused[0]", "p = fused[1]", "r = p * q", "return (r, p)"]
    assert result.calls == (("replacement_0", "fused"),)


def test_a_tuple_of_one_is_a_tuple() -> None:
    result = rewritten("x: y = torch.relu(x); return y", traced("a: return (torch.relu(a),)"))
    assert body(result) == ["fused = replacement_0(x)", "y = fused[0]", "return y"]


def test_nested_results_and_unread_results() -> None:
    result = rewritten(
        "x: p = torch.exp(x); q = torch.sin(p); r = torch.cos(q); return r",
        traced("a: p = torch.exp(a); q = torch.sin(p); return a, (p, [torch.cos(q)], 1)"),
    )
    # results that nothing reads are not unpacked
    assert body(result) == [
        "fused = replacement_0(x)",
        "fused_part = fused[1]",
        "fused_part_1 = fused_part[1]",
        "r = fused_part_1[0]",
        "return r",
    ]


def test_readers_of_an_early_result_come_after_the_call() -> None:
    result = rewritten(
        "x, y: p = x + y; r = p * 2; q = torch.relu(p); return (q, r)",
        traced("a, b: s = a + b; return torch.relu(s), s"),
    )
    assert body(result)[-2:] == ["r = p * 2", "return (q, r)"]


def test_arguments_may_append_literals_and_compute() -> None:
    result = rewritten(
        "x: view = x.view(2, -1); y = torch.relu(view); return y",
        traced("a, n: v = a.view(n, -1); return torch.relu(v)", "a, n: return (a.view(-1), n, 'left', None, a.shape)"),
    )
    assert body(result) == [
        "view_1 = x.view(-1)",
        "getattr_1 = x.shape",
        "y = replacement_0(view_1, 2, 'left', None, getattr_1)",
        "return y",
    ]


def test_arguments_that_are_not_a_tuple() -> None:
    graph, pattern = "x: y = torch.relu(x); return y", "a: return torch.relu(a)"
    assert body(rewritten(graph, traced(pattern, "a: return [a, 1]")))[0] == "y = replacement_0(x, 1)"
    assert body(rewritten(graph, traced(pattern, "a: return a")))[0] == "y = replacement_0(x)"


def test_arguments_are_bound_by_position() -> None:
    result = rewritten(
        "x, y: z = x - y; return z", traced("a, b: return a - b", "first, second: return (second, first)")
    )
    assert body(result)[0] == "z = replacement_0(y, x)"
    with pytest.raises(BadInput, match="pattern takes 2 arguments and replacement_args 1"):
        rewritten("x, y: z = x - y; return z", traced("a, b: return a - b", "a: return (a,)"))


def test_nodes_that_only_the_match_read_are_removed() -> None:
    result = rewritten(
        "x: m = torch.exp(x); n = torch.sin(m); o = torch.sin(x); y = torch.f(o, n); return y",
        traced("a, b: return torch.f(a, b)", "a, b: return (a,)"),
    )
    assert body(result) == ["o = torch.sin(x)", "y = replacement_0(o)", "return y"]


def test_dead_code_of_the_graph_and_effects_stay() -> None:
    result = rewritten(
        "x: g = torch._C._set_grad_enabled(False); d = torch.exp(x); m = torch.relu_(x); y = torch.f(m, x); return y",
        traced("a, b: return torch.f(a, b)", "a, b: return (b,)"),
    )
    assert body(result) == [
        "g = torch._C._set_grad_enabled(False)",
        "d = torch.exp(x)",
        "m = torch.relu_(x)",
        "y = replacement_0(x)",
        "return y",
    ]


def test_passes_apply_in_order_each_to_all_its_matches() -> None:
    result = rewritten(
        "x: a = torch.exp(x); b = torch.relu(a); c = torch.exp(b); d = torch.relu(c); e = torch.exp(d); return e",
        traced("a: p = torch.exp(a); return torch.relu(p)", number=0),
        traced("a: return torch.exp(a)", number=1),
        traced("a: return torch.sin(a)", number=2),
    )
    assert body(result) == [
        "b = replacement_0(x)", "d = replacement_0(b)", "e = replacement_1(d)", "return e",
    ]  # fmt: skip
    assert [report.matches for report in result.reports] == [(("a", "b"), ("c", "d")), (("e",),), ()]
    assert result.calls == (("replacement_0", "b"), ("replacement_0", "d"), ("replacement_1", "e"))
    assert result.reports[2].miss is not None
    assert result.reports[2].miss.kind is MissKind.ABSENT


def test_a_miss_names_the_earlier_pass_that_replaced_the_nodes() -> None:
    result = rewritten(
        "x: a = torch.exp(x); b = torch.relu(a); return b",
        traced("a: p = torch.exp(a); return torch.relu(p)", number=0),
        traced("a: return torch.relu(a)", number=1),
    )
    miss = result.reports[1].miss
    assert miss is not None
    assert (miss.kind, miss.pattern_node, miss.graph_node) == (MissKind.OVERLAP, "relu", "b")
    assert miss.reason.startswith("The earlier pass pass_0 has already replaced b.")


def test_a_miss_is_explained_by_the_original_graph_if_passes_replaced_the_nodes() -> None:
    result = rewritten(
        "x: a = torch.exp(x); b = a * 2; return b",
        traced("a: p = torch.exp(a); return p * 2", number=0),
        traced("a: return a * 3", number=1),
    )
    miss = result.reports[1].miss
    assert miss is not None
    assert (miss.kind, miss.graph_node) == (MissKind.LITERAL, "b")
    assert miss.reason == "The second operand of operator.mul is 3 in the pattern, but 2 in the graph (node b)."


def test_without_matches_the_graph_stays() -> None:
    graph = graph_of("x: a = torch.exp(x); return a")
    result = rewrite(graph, [traced("a: return torch.sin(a)")])
    assert result.graph == graph
    assert result.calls == ()


def test_an_input_that_is_returned_stays_itself() -> None:
    result = rewritten("x, y: p = x + y; q = p * x; return q", traced("a, b: s = a + b; return a, s"))
    assert body(result) == ["fused = replacement_0(x, y)", "p = fused[1]", "q = p * x", "return q"]


def test_reads_do_not_move_across_changes_in_place() -> None:
    result = rewritten(
        "x, y: v = y.view(-1); p = torch.exp(x); y += 1; q = torch.sin(p); r = torch.cos(v); return (q, r)",
        traced("a: p = torch.exp(a); return torch.sin(p)"),
    )
    lines = body(result)
    assert lines.index("r = torch.cos(v)") > lines.index("y_1 = y")
    result = rewritten("x, y: x += y; z = x; w = torch.relu(z); return w", traced("a, b: a += b; return torch.relu(a)"))
    assert body(result) == ["w = replacement_0(x, y)", "return w"]


def test_random_graphs_stay_well_formed_and_compute_the_same() -> None:
    """Run integer graphs before and after a rewrite whose replacements compute the same as their patterns."""
    dice = random.Random(7)
    replaced = 0
    two_results = traced("a, b: s = a + b; return s * 3, s")
    chain = traced("a, b, c: p = a - b; q = p * c; return q", number=1)
    apart = traced("a, b: return a ^ 5, b | 3", number=2)
    for _ in range(150):
        names = ["x", "y"]
        steps = []
        for index in range(dice.randint(3, 14)):
            left, right = dice.choice(names[-6:]), dice.choice([*names[-6:], "3"])
            step = dice.choice([f"+ {right}", f"- {right}", f"* {right}", "* 3", "^ 5", "| 3"])
            steps.append(f"v{index} = {left} {step}")
            names.append(f"v{index}")
        results = ", ".join(dice.sample(names, 2))
        graph = graph_of(f"x, y: {'; '.join(steps)}; return ({results}, {names[-1]})")
        after = rewrite(graph, [two_results, chain, apart])
        after.graph.check()
        replaced += len(after.calls)
        assert _run(after.graph) == _run(graph), emit(after.graph)
    assert replaced > 100


def _run(graph: Graph) -> object:
    functions = {
        "replacement_0": lambda a, b: ((a + b) * 3, a + b),
        "replacement_1": lambda a, b, c: (a - b) * c,
        "replacement_2": lambda a, b: (a ^ 5, b | 3),
    }
    source = emit(graph).replace("import torch\n", "").replace("torch.nn.Module", "object")
    space: dict[str, object] = dict(functions)
    exec(source, space)
    return space["GraphModule"]().forward(11, 4)  # type: ignore[operator]


def test_a_large_graph_is_rewritten_in_one_go() -> None:
    steps = "".join(f"a = torch.sin(x_{i}); b = a + x_{i}; x_{i + 1} = torch.relu(b); " for i in range(700))
    result = rewritten(f"x_0: {steps} return x_700", traced("a, b: return torch.relu(torch.sin(a) + b)"))
    assert len(result.calls) == 700
    assert len(result.graph.operations) == 700
    assert result.graph.result == Ref("x_700")
