"""Captured graphs are cut into parts that can really be taken out."""

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passnet_core.corpus.cutting import HEAVY, fusible, label, runs, single, standalone, typical
from passnet_core.corpus.members import deduplicated
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.source import emit, parse
from passnet_core.records import TensorSpec
from tests.unit.corpus.samples import sample_task


def graph_of(*operations: tuple[str, str, tuple[str, ...]], result: str) -> Graph:
    nodes = [Node("x", NodeKind.INPUT, "x"), Node("w", NodeKind.INPUT, "w")]
    nodes += [Node(name, NodeKind.CALL, target, tuple(map(Ref, read))) for name, target, read in operations]
    return Graph(tuple(nodes), (Ref(result),))


LINEAR = "torch.nn.functional.linear"
GATED = graph_of(
    ("gate", LINEAR, ("x", "w")),
    ("act", "torch.nn.functional.silu", ("gate",)),
    ("up", LINEAR, ("x", "w")),
    ("product", "operator.mul", ("act", "up")),
    ("down", LINEAR, ("product", "w")),
    ("sum", "operator.add", ("down", "x")),
    result="sum",
)


def named(graph: Graph) -> list[tuple[str, ...]]:
    return [tuple(node.name for node in part) for part in runs(graph)]


def test_runs_end_at_heavy_operations_and_reach_past_those_beside_them() -> None:
    assert named(GATED) == [("act",), ("product",), ("sum",), ("act", "product")]


def test_a_run_stands_alone_with_what_enters_and_leaves_it() -> None:
    specs: dict[str, TensorSpec | None] = {
        node.name: TensorSpec(node.name, (2, 8), "float32", mean=0.5) for node in GATED.nodes
    }
    part = next(part for part in runs(GATED) if len(part) == 2)
    made = standalone(GATED, part, specs)
    assert made is not None
    graph, inputs = made
    assert emit(graph).split("forward")[1].splitlines() == [
        "(self, in_0, in_1):",
        "        tmp_0 = torch.nn.functional.silu(in_0)",
        "        tmp_1 = tmp_0 * in_1",
        "        return (tmp_1,)",
    ]
    assert [(each.name, each.original_name, each.mean) for each in inputs] == [
        ("in_0", "gate", 0.5),
        ("in_1", "up", 0.5),
    ]


def test_a_run_that_anything_but_tensors_enters_is_left_out() -> None:
    part = next(part for part in runs(GATED) if len(part) == 2)
    assert standalone(GATED, part, {"gate": None, "up": None, "product": None}) is None


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    operations: list[tuple[str, str, tuple[str, ...]]] = []
    names = ["x", "w"]
    for number in range(draw(st.integers(1, 14))):
        read = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)))
        operations.append((f"n{number}", draw(st.sampled_from([LINEAR, "torch.relu", "operator.add"])), read))
        names.append(f"n{number}")
    return graph_of(*operations, result=names[-1])


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_no_path_leaves_a_run_and_comes_back(graph: Graph) -> None:
    for part in runs(graph):
        assert not any(label(node) in HEAVY for node in part)
        assert_no_way_back(graph, part)


def assert_no_way_back(graph: Graph, part: Sequence[Node]) -> None:
    inside = {node.name for node in part}
    tainted: set[str] = set()
    for node in graph.operations:
        reads_part = any(name in inside for name in node.inputs)
        if node.name not in inside and (reads_part or tainted & set(node.inputs)):
            tainted.add(node.name)
        assert not (node.name in inside and tainted & set(node.inputs))


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.sets(st.integers(0, 13)), st.integers(2, 6))
def test_no_path_leaves_a_fusible_or_typical_cut_and_comes_back(graph: Graph, refused: set[int], most: int) -> None:
    unfit = {f"n{number}" for number in refused}
    cuts = list(fusible(graph, lambda part: len(part) <= most and not unfit & {node.name for node in part}))
    for part in (*cuts, *typical(graph)):
        assert_no_way_back(graph, part)
    for part in cuts:
        assert 1 < len(part) <= most
        assert not unfit & {node.name for node in part}
        assert not any(label(node) in HEAVY for node in part[1:])
    assert len({part[0] for part in cuts}) == len(cuts)


def fused(graph: Graph, refused: str = "", several: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    cuts = fusible(graph, lambda part: refused not in {node.name for node in part}, several)
    return [tuple(node.name for node in part) for part in cuts]


def test_a_fusible_cut_begins_at_any_operation_and_ends_at_the_next_heavy_one() -> None:
    assert fused(GATED) == [("gate", "act", "product"), ("act", "product"), ("up", "product"), ("down", "sum")]
    assert fused(GATED, "product") == [("gate", "act"), ("down", "sum")]


def test_what_takes_results_apart_stays_with_its_operation() -> None:
    halves = graph_of(
        ("halves", "torch.chunk", ("x",)),
        ("first", "operator.getitem", ("halves",)),
        ("second", "operator.getitem", ("halves",)),
        ("act", "torch.relu", ("first",)),
        ("product", "operator.mul", ("act", "second")),
        result="product",
    )
    assert fused(halves, several=("halves",)) == [
        ("halves", "first", "second", "act", "product"),
        ("act", "product"),
    ]
    assert fused(halves, "second", several=("halves",)) == [("act", "product")]


def test_single_cuts_compute_and_typical_ones_are_long() -> None:
    assert [node.name for (node,) in single(GATED)] == ["gate", "act", "up", "product", "down", "sum"]
    chain = [
        (f"n{number}", "torch.relu" if number % 4 else LINEAR, (f"n{number - 1}" if number else "x",))
        for number in range(60)
    ]
    graph = graph_of(*chain, result="n59")
    assert [(part[0].name, len(part)) for part in typical(graph)] == [("n0", 24), ("n24", 24), ("n48", 12)]
    assert list(typical(GATED)) == []


def test_one_of_each_structure_and_shape_is_kept() -> None:
    one, other = sample_task().subgraphs
    assert deduplicated([one, other, one]) == (one, other)
    assert parse(one.code) == parse(other.code)
