"""What a capturing program answers is checked before anything uses it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Ref
from passnet_core.graphs.source import parse
from passnet_core.records import TensorSpec
from passnet_core.whole_models.captured import CapturedGraph, CapturedModel, captured_model

CODE = """import torch

class GraphModule(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return (y,)
"""
SPEC = {"name": "x", "shape": [2], "dtype": "float32"}


def answer(**changes: Any) -> bytes:
    graph = {"code": CODE, "inputs": [SPEC], "values": [{**SPEC, "name": "y"}], "calls": 3} | changes.pop("graph", {})
    model = {"name": "M", "graphs": [graph], "parameters": 7, "training": False} | changes
    return json.dumps(model).encode()


def test_an_answer_becomes_a_model() -> None:
    model = captured_model(answer())
    assert isinstance(model, CapturedModel)
    assert model.operations == 3
    assert {name: spec and spec.shape for name, spec in model.graphs[0].specs.items()} == {"x": (2,), "y": (2,)}
    assert model.subgraph(0).code == CODE
    assert model.subgraph(0).id == "graph-0"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Net", "Net"),
        ("../../etc/x", "etc-x"),
        ("a b\n|c", "a-b-c"),
        ("", "model"),
        ("é", "model"),
        ("N" * 99, "N" * 60),
    ],
)
def test_a_name_cannot_leave_its_folder(name: str, safe: str) -> None:
    assert captured_model(answer(name=name)).name == safe


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[1, 2]", "must be an object"),
        (answer(graphs=[]), "Nothing was captured"),
        (answer(graphs=[], notes=["A graph was left out: it calls a module."]), "it calls a module"),
        (answer(graph={"code": "import os\nos.system('x')\n"}), "."),
        (answer(graph={"inputs": []}), "damaged"),
        (answer(graph={"inputs": [{**SPEC, "name": "z"}]}), "damaged"),
        (answer(graph={"calls": 60_000}), "more than 50,000"),
        (answer(surprise=1), "surprise"),
    ],
)
def test_rubbish_is_refused_with_a_reason(given: bytes, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        captured_model(given)
    assert said in str(refused.value)


def test_what_a_judge_cannot_compute_is_given_to_it() -> None:
    code = """
import torch
from torch import device

class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        scaled = x * 2
        sizes = torch.ops.own.sizes(x)
        row = sizes[0]
        rows = scaled.expand(row)
        product = torch.ops.own.product(scaled, w)
        result = torch.relu(product)
        return (result, row)
"""
    x = TensorSpec("x", (4,), "torch.float32")
    spec = {name: replace(x, name=name) for name in ("w", "scaled", "rows", "product", "result")}
    values = tuple(spec[name] for name in ("scaled", "rows", "product", "result"))
    graph = CapturedGraph(code, (x, spec["w"]), values)
    # what a number of an unknown operator enters is unknown as well
    assert [node.name for node in graph.opaque] == ["sizes", "row", "rows", "product"]
    subgraph = CapturedModel("model", (graph,), 0, training=False).subgraph(0)
    assert [each.name for each in subgraph.inputs] == ["x", "w", "product"]
    kept = parse(subgraph.code)
    assert [node.name for node in kept.operations] == ["scaled", "result"]
    assert kept.result == (Ref("result"), Ref("scaled"))
