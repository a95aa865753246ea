import json
import shutil
import subprocess

import pytest

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.rendering import FAMILY_COLOUR, Marks, PairMark, dot, families, mark, picture
from passnet_core.graphs.source import parse_function
from passnet_core.graphs.vocabulary import FAMILIES
from tests.waiting import seconds

GRAPH = parse_function(
    "def f(x, y):\n    p = x + y\n    q = torch.sum(p, -1, keepdim=True)\n    r = q[:, 0]\n    return (r, p)\n", "f"
)


def laid_out(text: str) -> str:
    """The SVG that graphviz makes of the text."""
    dot_program = shutil.which("dot")
    if dot_program is None:
        pytest.skip("no graphviz program: apt-get install graphviz")
    done = subprocess.run(
        [dot_program, "-Tsvg"], input=text, capture_output=True, text=True, check=True, timeout=seconds(60)
    )
    assert not done.stderr
    return done.stdout


def test_dot_has_every_operation_with_its_literals() -> None:
    svg = laid_out(dot(GRAPH))
    for text in (">add<", ">sum<", ">&#45;1, keepdim=True<", ">getitem<", ">(:, 0)<", ">p<", ">return<"):
        assert text in svg
    assert svg.count('class="edge"') == 6
    assert "q = torch.sum(p, &#45;1, keepdim=True)" in svg


def test_calls_that_only_log_or_prepare_are_not_drawn() -> None:
    code = """
def f(x, y):
    torch._C._log_api_usage_once("f")
    lazy_load_decompositions = torch._functorch.vmap.lazy_load_decompositions()
    p = x.__eq__(y)
    return (p,)
"""
    svg = laid_out(dot(parse_function(code, "f")))
    assert ">eq<" in svg
    assert svg.count('class="node"') == 4


def test_passes_are_numbered_by_signs() -> None:
    assert [mark(1), mark(20), mark(21)] == ["①", "⑳", "(21)"]


@pytest.mark.parametrize(
    "name",
    ["<b>bold</b>", 'a"b', "back\\slash\\n", "two\nlines", "a:port", "&lt;", "]; x -> y [label=1", "\0", "é" * 999],
)
def test_hostile_names_are_shown_as_text(name: str) -> None:
    graph = Graph(
        (Node("x", NodeKind.INPUT, ""), Node(name, NodeKind.CALL, f"torch.{name}", (Ref("x"), name))), (Ref(name),)
    )
    svg = laid_out(dot(graph))
    assert svg.count('class="node"') == 3
    assert "<b>" not in svg
    if name == "<b>bold</b>":
        assert "&lt;b&gt;bold&lt;/b&gt;" in svg
    if name == "back\\slash\\n":
        assert ">back\\slash\\n<" in svg
    if name == "&lt;":
        assert "&amp;lt;" in svg


def test_every_family_has_a_colour() -> None:
    assert set(FAMILY_COLOUR) == set(FAMILIES)
    assert families(GRAPH) == ("pointwise", "reduction", "indexing")


def test_a_picture_is_plain_data_with_all_facts_about_a_node() -> None:
    data = picture(GRAPH, Marks({"q": 2}, ["First", "Second"], "r", "why", ["p"]), values={"x": ((2, 3), "float16")})
    assert json.loads(json.dumps(data))["nodes"] == data["nodes"]
    nodes = {node["name"]: node for node in data["nodes"]}
    assert nodes["x"]["value"] == {"shape": [2, 3], "dtype": "float16", "bytes": 12}
    assert nodes["q"] == {
        "name": "q", "operator": "sum", "family": "reduction", "literals": "-1, keepdim=True",
        "code": "q = torch.sum(p, -1, keepdim=True)", "line": 3, "inputs": [2], "value": None, "group": 2, "change": "",
        "miss": False, "pair": None, "faint": False,
    }  # fmt: skip
    assert (nodes["p"]["change"], nodes["r"]["miss"], data["reason"]) == ("+", True, "why")
    assert data["result"] == {"code": "return (r, p)", "inputs": [4, 2]}
    assert [(each["mark"], each["name"]) for each in data["groups"]] == [("②", "Second")]
    assert [each["name"] for each in data["families"]] == ["pointwise", "reduction", "indexing"]
    assert not data["folded"]


def test_pairs_faint_nodes_and_focus_are_in_the_data() -> None:
    marks = Marks(
        {"p": 1}, ["First"], pairs={"q": PairMark("1", "the pattern's sum", 3)}, faint={"p"}, focus=["q", "gone"]
    )
    data = picture(GRAPH, marks)
    nodes = {node["name"]: node for node in data["nodes"]}
    assert nodes["q"]["pair"] == {"mark": "1", "with": "the pattern's sum", "group": 3}
    assert (nodes["p"]["faint"], nodes["q"]["faint"], nodes["x"]["pair"]) == (True, False, None)
    assert [data["nodes"][index]["name"] for index in data["focus"]] == ["q"]
    assert [each["number"] for each in data["groups"]] == [1, 3]
    assert Marks(apart=["x"]).nodes == {"x"}


def test_a_value_has_bytes_only_for_a_known_dtype() -> None:
    data = picture(GRAPH, values={"x": ((), "bool"), "y": ((2,), "mystery")})
    assert [node["value"] and node["value"]["bytes"] for node in data["nodes"][:3]] == [1, None, None]


def test_marked_nodes_are_in_no_folded_chain() -> None:
    lines = "".join(f"    v{index + 1} = torch.exp(v{index})\n" for index in range(12))
    graph = parse_function(f"def f(v0):\n{lines}    return (v12,)\n", "f")
    assert [len(each["nodes"]) for each in picture(graph)["chains"]] == [12]
    assert [len(each["nodes"]) for each in picture(graph, Marks({"v6": 1}))["chains"]] == [5, 6]
    assert picture(graph, Marks(miss="v4", removed=["v8"]))["chains"] == []


@pytest.mark.parametrize("name", ["<b>bold</b>", 'a"b', "\0", "é" * 9999])
def test_a_picture_does_not_escape_hostile_names(name: str) -> None:
    graph = Graph(
        (Node("x", NodeKind.INPUT, ""), Node(name, NodeKind.CALL, f"torch.{name}", (Ref("x"), name))), (Ref(name),)
    )
    data = picture(graph)["nodes"][1]
    assert data["name"] == name
    assert len(data["code"]) <= 2000
