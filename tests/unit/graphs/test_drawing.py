import shutil
import subprocess

import pytest

from passnet_core.graphs.drawing import FAMILY_COLOUR, dot, families, fold, mark
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.source import parse_function
from passnet_core.graphs.vocabulary import FAMILIES

GRAPH = parse_function(
    "def f(x, y):\n    p = x + y\n    q = torch.sum(p, -1, keepdim=True)\n    r = q[:, 0]\n    return (r, p)\n", "f"
)


def drawn(text: str) -> str:
    """What a viewer shows: the layout program's reading of the text."""
    dot_program = shutil.which("dot")
    if dot_program is None:
        pytest.skip("no graphviz program: apt-get install graphviz")
    done = subprocess.run([dot_program, "-Tsvg"], input=text, capture_output=True, text=True, check=True, timeout=60)
    assert not done.stderr
    return done.stdout


def test_a_drawing_has_every_operation_with_its_literals() -> None:
    svg = drawn(dot(GRAPH, title="before"))
    for text in (">before<", ">add<", ">sum<", ">&#45;1, keepdim=True<", ">getitem<", ">(:, 0)<", ">p<", ">return<"):
        assert text in svg
    assert svg.count('class="edge"') == 6
    assert "q = torch.sum(p, &#45;1, keepdim=True)" in svg


def test_marks_say_what_colours_say() -> None:
    text = dot(GRAPH, groups={"p": 1, "q": 2}, miss="r", added=["q"], removed=["p"], details={"q": "float16 [2, 1]"})
    svg = drawn(text)
    for shown in (">① − add<", ">② + sum<", ">✗ nearest miss getitem<", "float16 [2, 1]"):
        assert shown in svg
    assert [mark(1), mark(20), mark(21)] == ["①", "⑳", "(21)"]


def test_dark_and_light_differ_only_in_colours() -> None:
    assert dot(GRAPH) != dot(GRAPH, dark=True)
    assert dot(GRAPH).count("\n") == dot(GRAPH, dark=True).count("\n")


@pytest.mark.parametrize(
    "name",
    ["<b>bold</b>", 'a"b', "back\\slash\\n", "two\nlines", "a:port", "&lt;", "]; x -> y [label=1", "\0", "é" * 999],
)
def test_hostile_names_are_shown_as_text(name: str) -> None:
    graph = Graph(
        (Node("x", NodeKind.INPUT, ""), Node(name, NodeKind.CALL, f"torch.{name}", (Ref("x"), name))), (Ref(name),)
    )
    svg = drawn(dot(graph, title=name, details={name: name}))
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


def test_a_large_graph_is_drawn_through_a_window() -> None:
    lines = "".join(f"    v{index + 1} = torch.exp(v{index}) + w\n" for index in range(300))
    graph = parse_function(f"def f(w, v0):\n{lines}    return (v300, v7)\n", "f")
    window, sentence = fold(graph, 100, around=["v200"])
    assert len(window.operations) == 100
    assert "v200" in window.by_name
    assert "600 operations; shown are 390 to 489" in sentence
    window.check()
    assert window.inputs[0].name == "w"
    assert window.result == (Ref(window.nodes[-1].name),)
    assert fold(GRAPH) == (GRAPH, "")
    first, sentence = fold(graph)
    assert first.operations[0] == graph.operations[0]
    assert "shown are 1 to 200" in sentence
