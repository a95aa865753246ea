"""Lines belong to nodes: in sources, rewritten graphs, passes, Inductor's code, Triton IR and PTX."""

from passnet_core.graphs import aligning, panes, traffic
from passnet_core.graphs.aligning import Place, Span
from passnet_core.graphs.source import parse
from passnet_core.records import (
    Bundle,
    CompiledKernel,
    MatchReport,
    MissKind,
    NearestMiss,
    NodeValue,
    PassFile,
    PassMatches,
    TensorForm,
    TensorSpec,
)

SOURCE = """import torch

class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = x + w;  w = None
        b = torch.relu(
            a,
        )
        c = torch.sigmoid(x) * b
        d, e = c.chunk(2, dim=-1)
        return (d, e)
"""
REWRITTEN = """import torch

class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        view = w.view(-1)
        fused = replacement_0(x, view, 2)
        b = fused[0]
        sigmoid = torch.sigmoid(x)
        c = sigmoid * b
        chunk = c.chunk(2, dim=-1)
        d = chunk[0]
        e = chunk[1]
        return (d, e)
"""
PASS = """import torch
import triton
from shared import launch

def pattern(p, q):
    s = p + q
    return torch.relu(s)

def replacement_args(p, q):
    return (p, q.view(-1), 2)

@triton.jit
def unused(x):
    pass

def replacement_func():
    return launch
"""
SHARED = """import triton

@triton.jit
def kernel(x):
    helper(x)

@triton.jit
def helper(x):
    pass

def launch(x, y, n):
    kernel[(1,)](x)
"""
GRAPH = parse(SOURCE)
BUNDLE = Bundle((PassFile("one.py", PASS),), (PassFile("shared.py", SHARED),))
MATCH = MatchReport((PassMatches("one", (("a", "b"),)),), REWRITTEN)


def test_a_statement_belongs_to_the_nodes_that_it_computes() -> None:
    spans = {each.nodes: (each.first, each.last) for each in aligning.of_source(SOURCE)}
    assert spans[("x", "w")] == (4, 4)
    assert spans[("a",)] == (5, 5)
    assert spans[("b",)] == (6, 8), "a statement of several lines"
    assert spans[("sigmoid", "c")] == (9, 9), "two operations on one line"
    assert aligning.of_source("what is this") == ()


def test_statements_around_a_replacements_call_belong_to_the_replaced_nodes() -> None:
    nodes = {each.first: each.nodes for each in aligning.of_rewritten(REWRITTEN, GRAPH, MATCH)}
    assert nodes[5] == nodes[6] == nodes[7] == ("a", "b"), "its arguments, itself, its results"
    assert nodes[8] == ("sigmoid",)
    assert nodes[10] == ("chunk",)


def test_lines_of_a_pattern_are_exact_and_functions_are_blocks() -> None:
    spans = aligning.of_bundle(BUNDLE, GRAPH, MATCH)
    assert spans["one.py"] == (Span(6, 6, ("a",)), Span(7, 7, ("b",)))
    blocks = {(each.first, each.last): each for each in spans["shared.py"]}
    assert set(blocks) == {(3, 5), (7, 9), (11, 12)}, "what is launched, and what that calls"
    assert all(each.nodes == ("a", "b") and not each.exact for each in blocks.values())
    assert aligning.kernel_nodes(BUNDLE, GRAPH, MATCH) == dict.fromkeys(("launch", "kernel", "helper"), ("a", "b"))


def test_a_pattern_with_uncertain_lines_is_one_block() -> None:
    built = PASS.replace(
        "    s = p + q\n    return torch.relu(s)", "    for _ in range(1):\n        s = p + q\n    return s"
    )
    spans = aligning.of_bundle(Bundle((PassFile("one.py", built),)), GRAPH, MATCH)
    assert spans["one.py"] == (Span(5, 8, ("a", "b"), exact=False),)
    broken = aligning.of_bundle(Bundle((PassFile("one.py", "def ("),)), GRAPH, MATCH)
    assert broken["one.py"] == ()


def test_equal_operations_are_distinguished_by_their_operands() -> None:
    graph = parse(SOURCE.replace("torch.sigmoid(x) * b", "(x + b) * (b + x)"))
    pattern = parse("def forward(m, n):\n    right = n + m\n    left = m + n\n    return left * right\n")
    names = [node.name for node in graph.operations if node.target in ("operator.add", "operator.mul")][1:]
    placed = aligning.paired(pattern, graph, names)
    assert [placed["left"], placed["right"], placed["mul"]] == names
    assert aligning.paired(pattern, graph, names[:2]) == {}


def test_a_nearest_miss_shows_only_certain_pairs() -> None:
    miss = NearestMiss(MissKind.OPERATOR, "relu", "sigmoid", "It differs.", (("add", "a"),))
    missed = MatchReport((PassMatches("one", (), miss),))
    assert aligning.of_bundle(BUNDLE, GRAPH, missed)["one.py"] == (Span(6, 6, ("a",)), Span(7, 7, ("sigmoid",)))
    twice = PASS.replace("s = p + q", "s = p + q + q")
    unsure = aligning.of_bundle(Bundle((PassFile("one.py", twice),)), GRAPH, missed)
    assert unsure["one.py"] == (Span(7, 7, ("sigmoid",)),)


INDUCTOR = '''
# kernel path: /tmp/x.py
# Topologically Sorted Source Nodes: [a, b, not_here], Original ATen: [aten.add, aten.relu]
triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', """
@triton.jit
def triton_poi_fused_add_relu_0(x): pass
""", device_str='cuda')
cpp_fused_mul_sigmoid_1 = async_compile.cpp_pybinding(['float*'], """
void kernel() {}
""")
class Runner:
    def call(self, args):
        buf0 = empty_strided((4,))
        # Topologically Sorted Source Nodes: [a, b], Original ATen: [aten.add, aten.relu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_add_relu_0.run(arg0_1, buf0)
        # Topologically Sorted Source Nodes: [chunk], Original ATen: [aten.mm]
        extern_kernels.mm(buf0, out=buf1)
        cpp_fused_mul_sigmoid_1(buf0)
        return (buf0,)
'''


def test_inductors_kernels_belong_to_the_nodes_in_its_comments() -> None:
    spans = aligning.of_inductor(INDUCTOR, GRAPH)
    assert Span(2, 7, ("a", "b"), exact=False) in spans
    assert Span(14, 15, ("a", "b")) in spans
    assert Span(16, 16, ("a", "b")) in spans, "a call without a comment of its own is its kernel's"
    assert Span(17, 18, ("chunk",)) in spans
    guessed = [each for each in spans if each.nodes == ("sigmoid", "c")]
    assert [(each.first, each.exact) for each in guessed] == [(8, False), (19, False)], "by its name: a guess"
    assert aligning.guesses(INDUCTOR)
    assert aligning.of_inductor("not Python (", GRAPH) == ()


TTIR = """#loc = loc("pass_dir/shared.py":4:0)
#loc3 = loc(unknown)
module {
  tt.func public @kernel(%x: !tt.ptr<f32> loc("x"(#loc))) {
    %a = tt.load %x loc(#loc4)
    %b = arith.addf %a, %a loc(#loc6)
    %c = arith.addf %a, %a loc(#loc7)
    tt.return loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("pass_dir/shared.py":5:8)
#loc2 = loc("triton/language/standard.py":263:15)
#loc4 = loc("a"(#loc1))
#loc6 = loc(callsite(#loc2 at #loc4))
#loc7 = loc(callsite(#loc7 at #loc7))
"""
PTX = """.visible .entry kernel(
{
	.loc	1 5 8
	ld.global.b32 %r1, [%rd1];
	.loc	2 263 15                        // standard.py:263:15 @[ shared.py:9:19 ]
$L__tmp1:
	add.f32 	%r2, %r1, %r1;
	.loc	2 1 1
	ret;
}
	.file	1 "pass_dir" "shared.py"
	.file	2 "triton/language" "standard.py"
"""


def test_lines_of_triton_ir_and_ptx_come_from_lines_of_the_bundle() -> None:
    files = {"shared.py"}
    assert aligning.of_triton_ir(TTIR, files) == (
        Place(5, "shared.py", 5), Place(6, "shared.py", 5), Place(9, "shared.py", 4), Place(10, "shared.py", 4)
    )  # fmt: skip
    assert aligning.of_ptx(PTX, files) == (Place(4, "shared.py", 5), Place(7, "shared.py", 9))
    assert aligning.of_ptx(PTX, ()) == aligning.of_triton_ir(TTIR, ()) == ()


def test_a_picture_is_plain_data_with_unescaped_texts() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    kernel = CompiledKernel(hostile, "9.0", ran=False, launches=1, ptx=PTX)
    shown = [
        *panes.of_passes(GRAPH, BUNDLE, MATCH, {"mine:one.py": ["a fact"]}),
        *panes.of_subgraph(GRAPH, SOURCE, MATCH, {}),
        *panes.of_kernel(0, kernel, BUNDLE, ("a", "b"), hostile),
    ]
    data = panes.picture(shown, GRAPH, MATCH)
    assert [each["title"] for each in data["panes"]] == [
        "① one.py", "helper shared.py", "The subgraph, rewritten", "The subgraph, as recorded", f"PTX of {hostile}",
    ]  # fmt: skip
    assert [node["mark"] for node in data["nodes"]][:4] == ["", "", "①", "①"]
    first, *_, last = data["panes"]
    assert (first["spans"][0], first["facts"]) == ([6, 6, [2], True], ["a fact"])
    assert (last["places"][0], last["note"]) == ([4, "shared.py:5"], panes.CLAIMED)


def test_bytes_count_tensors_read_and_written() -> None:
    forms = traffic.forms_of([TensorSpec(name, (4, 8), "float16") for name in ("x", "w")])
    assert traffic.through(GRAPH, forms) is None, "the results are not known"
    half, whole = TensorForm((4, 4), "float16"), TensorForm((4, 8), "float16")
    values = [NodeValue(name, (whole,)) for name in ("a", "b", "sigmoid", "c")]
    forms = traffic.forms_of(
        [TensorSpec(name, (4, 8), "float16") for name in ("x", "w")],
        [*values, NodeValue("chunk", (half, half)), NodeValue("d", (half,)), NodeValue("e", (half,))],
    )
    assert traffic.through(GRAPH, forms) == 3 * 64
    assert traffic.one_by_one(GRAPH, forms, GRAPH.operations) == (3 + 2 + 2 + 3) * 64, "views move nothing"
    rewritten = parse(REWRITTEN)
    calls = aligning.replacement_calls(rewritten)
    assert traffic.one_by_one(rewritten, forms, calls) == 3 * 64, "of a view, what it is one of"
    strange = {**forms, "a": (TensorForm((4,), "float3"),)}
    assert traffic.one_by_one(GRAPH, strange, GRAPH.operations) is None
