"""Tracing patterns with torch.fx, and binding the arguments of calls, with the real torch."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import tanh

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.fx import signatures, tracing
from passnet_core.graphs.effects import live
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice
from passnet_core.graphs.matching import find_matches, same
from passnet_core.graphs.source import emit, parse
from passnet_core.operations.binding import Call, bind

PROJECT = Path(__file__).resolve().parents[2]
PASSBENCH = PROJECT / ".." / "shared" / "passbench-dev"

HEAD = "import torch\nfrom torch import device\nclass GraphModule(torch.nn.Module):\n    def forward(self, x, y, z):\n"


def graph(*lines: str) -> Graph:
    return parse(HEAD + "".join(f"        {line}\n" for line in lines))


def call(expression: str) -> Call:
    return bind(graph(f"a = {expression}", "return (a,)").operations[-1])


def equal(left: Call, right: Call) -> bool:
    arguments, others = dict(left.arguments), dict(right.arguments)
    alike = all(same(value, others[name]) for name, value in arguments.items() if name in others)
    return left.target == right.target and set(arguments) == set(others) and alike


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("torch.sum(x, -1)", "torch.sum(x, dim=(-1,), keepdim=False)"),
        ("x.sum(axis=1)", "x.sum(1)"),
        ("x.view(1, -1)", "x.view([1, -1])"),
        ("x.permute(0, 2, 1)", "x.permute((0, 2, 1))"),
        ("x.expand(1, -1)", "x.expand((1, -1))"),
        ("x.contiguous()", "x.contiguous(memory_format=torch.contiguous_format)"),
        ("x.flatten(1)", "x.flatten(1, -1)"),
        ("x.to(torch.float32)", "x.to(dtype=torch.float)"),
        ("x.to(device(type='cuda', index=0), torch.half)", "x.to(device='cuda:0', dtype=torch.float16)"),
        ("torch.conv2d(x, y, None, (1, 1), (0, 0), (1, 1), 1)", "torch.nn.functional.conv2d(x, y, stride=1)"),
        ("torch.nn.functional.softmax(x, dim=-1)", "torch.nn.functional.softmax(x, -1, _stacklevel=5)"),
        ("torch.nn.functional.gelu(x)", "torch._C._nn.gelu(x, approximate='none')"),
        ("torch.nn.functional.max_pool2d(x, 3, 2)", "torch.nn.functional.max_pool2d(x, kernel_size=3, stride=2)"),
        ("torch.functional.split(x, [1, 2], dim=1)", "torch.split(x, (1, 2), 1)"),
        ("torch.cat([x, y])", "torch.cat((x, y), dim=0)"),
        ("torch.softmax(x, -1)", "torch.softmax(input=x, dim=-1)"),
        ("torch.zeros(2, 3)", "torch.zeros((2, 3))"),
        ("torch.functional.einsum('ab,bc->ac', (x, y))", "torch.einsum('ab,bc->ac', x, y)"),
        ("torch.meshgrid([x, y], indexing='ij')", "torch.functional.meshgrid(x, y, indexing='ij')"),
        (
            "torch.nn.functional.layer_norm(x, (8,), y, z)",
            "torch.nn.functional.layer_norm(x, [8], y, bias=z, eps=1e-05)",
        ),
        (
            "torch.nn.functional.scaled_dot_product_attention(x, y, z)",
            "torch.nn.functional.scaled_dot_product_attention(x, y, z, attn_mask=None, dropout_p=0.0, is_causal=False)",
        ),
    ],
)
def test_two_spellings_of_a_call_are_bound_alike(spelling: str, other: str) -> None:
    assert equal(call(spelling), call(other)), (call(spelling), call(other))


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("torch.relu(x)", "torch.nn.functional.relu(x)"),
        ("torch.sum(x, 1)", "torch.sum(x, 1, True)"),
        ("x.transpose(1, 2)", "x.transpose(2, 1)"),
        ("torch.nn.functional.gelu(x)", "torch.nn.functional.gelu(x, approximate='tanh')"),
        ("torch.add(x, y)", "torch.add(x, y, alpha=2)"),
        ("x.to(torch.float16)", "x.to(torch.bfloat16)"),
    ],
)
def test_different_calls_are_bound_differently(one: str, another: str) -> None:
    assert not equal(call(one), call(another))


def test_binding_never_fails_on_unknown_calls() -> None:
    strange = Node("a", NodeKind.CALL, "torch.no_such_thing", (Ref("x"), 1), (("mode", "x"),))
    assert bind(strange) == Call("torch.no_such_thing", (("0", Ref("x")), ("1", 1), ("mode", "x")))
    assert bind(Node("b", NodeKind.METHOD, "frobnicate", (Ref("x"),))).arguments == (("0", Ref("x")),)


def test_a_traced_pattern_equals_the_captured_graph() -> None:
    def pattern(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + y
        parts = torch.functional.split(total, 2, dim=-1)
        return torch._C._nn.gelu(parts[0]), total

    captured = graph(
        "a = x + y", "b = torch.split(a, 2, -1)", "c = b[0]", "d = torch.nn.functional.gelu(c)", "return (d, a)"
    )
    traced = tracing.trace_pattern(pattern)
    assert [bind(node).target for node in traced.operations] == [bind(node).target for node in captured.operations]
    assert [node.name for node in traced.inputs] == ["x", "y"]


def test_patterns_keep_what_torch_fx_alone_would_lose() -> None:
    def pattern(x: torch.Tensor, input: torch.Tensor) -> tuple[torch.Tensor, int, float]:
        x += input
        positions = torch.arange(4, dtype=torch.float32)
        positions *= 2
        x[:, 0] = 1
        return x * positions, input.shape[0], math.sqrt(4)

    traced = tracing.trace_pattern(pattern)
    assert [node.name for node in traced.inputs] == ["x", "input"]
    targets = [node.target for node in traced.operations]
    assert targets[:4] == ["operator.iadd", "torch.arange", "operator.imul", "operator.setitem"]
    stored = traced.operations[3]
    assert stored.args == (Ref("iadd"), (Slice(), 0), 1)
    assert isinstance(traced.result, tuple)
    assert traced.result[-1] == 2.0
    assert parse(emit(traced)).operations[0].target == "operator.iadd"


def test_a_function_that_calls_a_method_is_traced_as_the_function() -> None:
    def pattern(x: torch.Tensor) -> tuple[object, ...]:
        return torch.nn.functional.sigmoid(x), tanh(input=x), x.sigmoid(), torch.meshgrid([x, x], indexing="ij")

    assert [(node.kind, node.target) for node in tracing.trace_pattern(pattern).operations] == [
        (NodeKind.CALL, "torch.nn.functional.sigmoid"),
        (NodeKind.CALL, "torch.nn.functional.tanh"),
        (NodeKind.METHOD, "sigmoid"),
        (NodeKind.CALL, "torch.meshgrid"),
    ]
    assert torch.equal(torch.nn.functional.sigmoid(torch.zeros(1)), torch.full((1,), 0.5))


def test_a_traced_graph_can_be_run_and_traced_again() -> None:
    """torch.fx would otherwise look up wrapped functions by their dotted names in every later trace."""
    graph = tracing.fx_graph(lambda x: torch.nn.functional.sigmoid(x) * math.sqrt(x.shape[0]))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    assert torch.equal(module(torch.zeros(4)), torch.ones(4))
    again = tracing.graph_of_fx(torch.fx.symbolic_trace(module).graph).graph
    assert len(again.operations) >= 4
    assert tracing.graph_of_fx(tracing.fx_graph(module)).graph == tracing.graph_of_fx(graph).graph


def test_a_global_switch_in_a_pattern_is_recorded_and_not_executed() -> None:
    def pattern(x: torch.Tensor) -> torch.Tensor:
        torch._C._set_grad_enabled(False)
        return x.float()

    assert "torch._C._set_grad_enabled" in [node.target for node in tracing.trace_pattern(pattern).operations]
    assert torch.is_grad_enabled()


def test_the_result_of_replacement_args_is_always_a_tuple() -> None:
    assert tracing.trace_arguments(lambda a, b: (b, a, "route", 1e-5)).result == (Ref("b"), Ref("a"), "route", 1e-5)
    assert tracing.trace_arguments(lambda a: a).result == (Ref("a"),)
    assert tracing.trace_arguments(lambda a: [a, [1, 2]]).result == (Ref("a"), Listed((1, 2)))


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (lambda x: x if x.sum() > 0 else -x, "straight-line"),
        (lambda x: list(x), "iterated"),
        (lambda x: torch.nn.ReLU()(x), "torch.nn.functional"),
        (lambda *x: x[0], "Name every input"),
        (lambda x: float(x), "no number"),
        (lambda x: x + undefined_name, "undefined_name"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
def test_an_untraceable_pattern_says_what_to_write_instead(pattern: Callable[..., object], said: str) -> None:
    with pytest.raises(tracing.Untraceable, match=said):
        tracing.trace_pattern(pattern)


@pytest.mark.parametrize(
    "line",
    [
        "a = torch.load('weights.pt')",
        "a = torch.hub.load('x', 'y')",
        "a = x.apply_(y)",
        "a = x.numpy()",
        "a = x.storage()",
        "a = torch.from_file('/etc/passwd')",
    ],
)
def test_the_refusal_of_a_call_that_is_no_operation_names_its_line(line: str) -> None:
    problem = signatures.refusal(graph(line, "return (a,)"))
    assert problem.startswith("Line 5: ")


def test_names_outside_the_known_operations_are_not_resolved() -> None:
    for target in (
        "os.system",
        "torch.os.system",
        "builtins.exec",
        "operator.methodcaller",
        "torch.utils.data.Dataset",
    ):
        with pytest.raises(BadInput, match="not an operation"):
            signatures.resolve(target)


def test_operators_called_as_methods_are_traced_as_they_are_read() -> None:
    traced = tracing.trace_pattern(lambda x, y: (x.__eq__(y), x.__rsub__(1), x.__and__(y), x.__neg__()))
    lines = ("a = x.__eq__(y)", "b = x.__rsub__(1)", "c = x.__and__(y)", "d = x.__neg__()", "return (a, b, c, d)")
    read = [(node.target, node.args) for node in graph(*lines).operations]
    assert [(node.target, node.args) for node in traced.operations] == read


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("torch.load", "reads or writes files"),
        ("torch.ops.aten.save", "reads or writes files"),
        ("torch.ops.aten.from_file.default", "reads or writes files"),
        ("torch.ops.aten.set_.source_Tensor", "reaches raw memory"),
        ("torch.compile", "runs other code"),
        ("torch.cond", "runs other code"),
        ("torch.set_num_threads", "sets global state"),
        ("torch.ops.aten.manual_seed", "sets global state"),
    ],
)
def test_a_refused_function_says_why(target: str, reason: str) -> None:
    with pytest.raises(BadInput, match=f"{re.escape(target)}' is not allowed in a subgraph: it .*{reason}"):
        signatures.resolve(target)


def test_of_torchs_operators_only_those_that_compute_on_tensors_are_resolved() -> None:
    assert signatures.resolve("torch.ops.aten.add.Tensor") is torch.ops.aten.add.Tensor
    assert signatures.resolve("torch.linalg.cond") is torch.linalg.cond
    for target in ("torch.ops.aten.warn", "torch.ops.aten.format", "torch.ops.aten.nothing", "torch.ops.aten.add.str"):
        with pytest.raises(BadInput, match="not an operation"):
            signatures.resolve(target)


def test_every_operation_of_passbench_is_known_and_bound() -> None:
    if not PASSBENCH.is_dir():
        pytest.skip("the folder shared/passbench-dev is not here")
    plain = set()
    for file in sorted(PASSBENCH.rglob("model.py")):
        captured = parse(file.read_text())
        assert signatures.refusal(captured) == "", file
        for node in captured.operations:
            bound = bind(node)
            if any(name.isdecimal() for name, _ in bound.arguments):
                plain.add(bound.target)
    assert plain <= {"Tensor.float", "torch._C._set_grad_enabled"}


def test_every_bundled_subgraph_is_made_of_known_operations_and_matches_itself() -> None:
    """A subgraph, written as a pattern, matches itself completely. One subgraph for each set of calls is tried."""
    corpus = Corpus([PROJECT / "data" / "tasks"])
    seen: set[object] = set()
    for code in {each.code: None for task in corpus.tasks() for each in corpus.task(task.id).subgraphs}:
        captured = parse(code)
        assert signatures.refusal(captured) == "", code
        calls = {
            (node.target, *map(type, node.args), *(name for name, _ in node.kwargs)) for node in captured.operations
        }
        if calls <= seen:
            continue
        seen |= calls
        module: dict[str, Any] = {}
        exec(code, module)  # captured by this project's own extractor
        pattern = tracing.graph_of_fx(tracing.fx_graph(module["GraphModule"]())).graph
        found = find_matches(pattern, captured, bind=bind)
        if len(live(captured)) == len(captured.operations):
            assert [len(match.names) for match in found.matches] == [len(captured.operations)], (code, found.miss)
