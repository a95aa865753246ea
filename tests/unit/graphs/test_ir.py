"""Graphs as data: checks that they are well-formed, and the round trip through JSON."""

import json

import pytest

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import (
    DeviceLiteral,
    Graph,
    Listed,
    Node,
    NodeKind,
    Ref,
    Slice,
    Symbol,
    graph_from_json,
    graph_to_json,
    references,
    substituted,
)

EVERY_VALUE = (
    (Ref("x"), Symbol("torch.float16")),
    Listed((1, True, None)),
    Slice(None, Ref("x"), -1),
    DeviceLiteral("cuda", 0),
    float("-inf"),
    0.1,
    "text",
)
X = Node("x", NodeKind.INPUT, "x")
Y = Node("y", NodeKind.CALL, "torch.f", EVERY_VALUE, (("out", (Ref("x"),)),), line=7)
Z = Node("z", NodeKind.METHOD, "t", (Ref("y"),))
GRAPH = Graph((X, Y, Z), (Ref("z"), (Ref("x"), 1)))


def test_a_graph_survives_its_json() -> None:
    assert graph_from_json(json.loads(json.dumps(graph_to_json(GRAPH), allow_nan=False))) == GRAPH


def test_users_and_results() -> None:
    assert GRAPH.users == {"x": ("y",), "y": ("z",), "z": ()}
    assert GRAPH.returned == {"z", "x"}
    assert [node.name for node in GRAPH.operations] == ["y", "z"]


def test_references_are_found_at_every_depth_and_can_be_replaced() -> None:
    assert list(references(EVERY_VALUE)) == ["x", "x"]
    assert list(references(substituted(EVERY_VALUE, {"x": 3}))) == []


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {},
        {"nodes": [], "result": {"ref": "ghost"}},
        {"nodes": [], "result": {"ref": "x", "symbol": "y"}},
        {"nodes": [{"name": "x"}], "result": None},
        {
            "nodes": [{"name": "x", "kind": "input", "target": 3, "args": [], "kwargs": [], "line": None}],
            "result": None,
        },
        {"nodes": graph_to_json(GRAPH)["nodes"][::-1], "result": None},
        {"nodes": graph_to_json(GRAPH)["nodes"] * 2, "result": None},
    ],
)
def test_json_that_is_not_a_graph_is_refused(broken: object) -> None:
    with pytest.raises(BadInput):
        graph_from_json(broken)
