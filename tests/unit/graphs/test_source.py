import math
import sys
from pathlib import Path

import pytest

from passnet_core.errors import BadInput
from passnet_core.graphs.emission import expression
from passnet_core.graphs.fingerprint import structure
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, graph_to_json
from passnet_core.graphs.source import emit, parse, parse_function

REAL_TASKS = Path(__file__).resolve().parents[3] / ".." / "shared" / "passbench-dev"


def module(
    *lines: str, arguments: str = "self, in_0, in_1", imports: str = "import torch\nfrom torch import device"
) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"{imports}\n\nclass GraphModule(torch.nn.Module):\n\n    def forward({arguments}):\n{body}"


def one(line: str) -> Node:
    """The last operation of a module with this line."""
    return parse(module(line, "return (y,)")).operations[-1]


def facts(graph: Graph) -> object:
    """Everything except line numbers; unlike ==, this distinguishes 1, 1.0 and True."""
    data = graph_to_json(graph)
    for node in data["nodes"]:
        node["line"] = None
    return data


def test_a_recorded_module_becomes_one_node_per_operation() -> None:
    graph = parse(
        module("tmp_0 = torch.nn.functional.relu(in_0, inplace=False)", "tmp_1 = tmp_0 + in_1", "return (tmp_1, tmp_0)")
    )
    assert [(node.name, node.kind, node.target, node.line) for node in graph.nodes] == [
        ("in_0", NodeKind.INPUT, "", 6),
        ("in_1", NodeKind.INPUT, "", 6),
        ("tmp_0", NodeKind.CALL, "torch.nn.functional.relu", 7),
        ("tmp_1", NodeKind.CALL, "operator.add", 8),
    ]
    assert graph.by_name["tmp_0"].kwargs == (("inplace", False),)
    assert graph.result == (Ref("tmp_1"), Ref("tmp_0"))


@pytest.mark.parametrize(
    ("line", "target", "args"),
    [
        ("y = torch._C._nn.gelu(in_0)", "torch._C._nn.gelu", (Ref("in_0"),)),
        ("y = torch.functional.split(in_0, [2, 3], dim=1)", "torch.functional.split", (Ref("in_0"), Listed((2, 3)))),
        ("y = in_0 @ in_1", "operator.matmul", (Ref("in_0"), Ref("in_1"))),
        ("y = in_0 // 2", "operator.floordiv", (Ref("in_0"), 2)),
        ("y = 1.0 - in_0", "operator.sub", (1.0, Ref("in_0"))),
        ("y = in_0 <= in_1", "operator.le", (Ref("in_0"), Ref("in_1"))),
        ("y = in_0 & in_1", "operator.and_", (Ref("in_0"), Ref("in_1"))),
        ("y = -in_0", "operator.neg", (Ref("in_0"),)),
        ("y = ~in_0", "operator.invert", (Ref("in_0"),)),
        ("y = in_0 ** -2", "operator.pow", (Ref("in_0"), -2)),
        ("y = in_0.__eq__(0)", "operator.eq", (Ref("in_0"), 0)),
        ("y = in_0.__and__(in_1)", "operator.and_", (Ref("in_0"), Ref("in_1"))),
        ("y = in_0.__rsub__(1)", "operator.sub", (1, Ref("in_0"))),
        ("y = in_0.__iadd__(in_1)", "operator.iadd", (Ref("in_0"), Ref("in_1"))),
        ("y = in_0.__invert__()", "operator.invert", (Ref("in_0"),)),
        ("y = in_0.__getitem__(0)", "operator.getitem", (Ref("in_0"), 0)),
        ("y = in_0.shape", "builtins.getattr", (Ref("in_0"), "shape")),
        ("y = in_0.T", "builtins.getattr", (Ref("in_0"), "T")),
        ("y = getattr(in_0, 'dtype')", "builtins.getattr", (Ref("in_0"), "dtype")),
        ("y = max(in_0, 1)", "builtins.max", (Ref("in_0"), 1)),
        ("y = in_0[0]", "operator.getitem", (Ref("in_0"), 0)),
        ("y = in_0[:, None, 1:]", "operator.getitem", (Ref("in_0"), (Slice(), None, Slice(1)))),
        (
            "y = in_0[(slice(None, None, None), 0)]",
            "operator.getitem",
            (Ref("in_0"), (Slice(), 0)),
        ),
        ("y = in_0[..., in_1]", "operator.getitem", (Ref("in_0"), (Symbol("builtins.Ellipsis"), Ref("in_1")))),
        ("y = in_0.view(2, -1)", "view", (Ref("in_0"), 2, -1)),
        ("y = in_0.to(torch.float32)", "to", (Ref("in_0"), Symbol("torch.float32"))),
        ("y = in_0.to(device(type='cuda', index=0))", "to", (Ref("in_0"), DeviceLiteral("cuda", 0))),
        ("y = in_0.to(torch.device('cuda:1'))", "to", (Ref("in_0"), DeviceLiteral("cuda", 1))),
        ("y = in_0.masked_fill(in_1, float('-inf'))", "masked_fill", (Ref("in_0"), Ref("in_1"), -math.inf)),
        ("y = in_0.masked_fill(in_1, -torch.inf)", "masked_fill", (Ref("in_0"), Ref("in_1"), -math.inf)),
        ("y = in_0.view(torch.Size([2, 3]))", "view", (Ref("in_0"), (2, 3))),
        ("y = replacement_0(in_0, 'left')", "replacement_0", (Ref("in_0"), "left")),
    ],
)
def test_each_form_of_an_operation_is_parsed(line: str, target: str, args: tuple[object, ...]) -> None:
    node = one(line)
    assert node.target == target
    assert node.args == args
    assert facts(parse(emit(parse(module(line, "return (y,)"))))) == facts(parse(module(line, "return (y,)")))


def test_calls_that_only_log_or_prepare_are_no_operations() -> None:
    lines = [
        "_log_api_usage_once = torch._C._log_api_usage_once('torchvision.nms');  _log_api_usage_once = None",
        "a = in_0 + in_1",
        "lazy_load_decompositions = torch._functorch.vmap.lazy_load_decompositions();  lazy_load_decompositions = None",
        "torch._C._log_api_usage_once('again')",
        "b = torch.relu(a)",
        "return (b,)",
    ]
    graph = parse(module(*lines))
    assert [(node.name, node.target, node.line) for node in graph.operations] == [
        ("a", "operator.add", 8),
        ("b", "torch.relu", 11),
    ]
    assert facts(graph) == facts(parse(module("a = in_0 + in_1", "b = torch.relu(a)", "return (b,)")))
    assert facts(parse(emit(graph))) == facts(graph)
    assert structure(graph) == structure(parse(module(lines[1], lines[4], lines[5])))


def test_imports_decide_what_a_name_means() -> None:
    imports = "import torch as t\nimport torch.nn.functional as F\nfrom torch import inf, float16\nimport _operator"
    lines = ["a = F.relu(in_0)", "b = t.clamp(a, max=inf)", "c = b.to(float16)", "d = _operator.add(c, 1)", "return d"]
    graph = parse(module(*lines, imports=imports))
    targets = [node.target for node in graph.operations]
    assert targets == ["torch.nn.functional.relu", "torch.clamp", "to", "operator.add"]
    assert graph.by_name["b"].kwargs == (("max", math.inf),)
    assert graph.by_name["c"].args[1] == Symbol("torch.float16")


def test_clean_up_lines_aliases_and_annotations_leave_no_nodes() -> None:
    graph = parse(
        module(
            "l_x = in_0",
            "relu: 'f32[4]' = torch.relu(l_x);  l_x = None",
            "out = relu",
            "tmp_3 = None",
            "del in_1",
            "return (out,)",
            arguments="self, in_0: 'f32[4]', in_1: torch.Tensor",
        )
    )
    assert [node.name for node in graph.operations] == ["relu"]
    assert graph.by_name["relu"].args == (Ref("in_0"),)
    assert graph.result == (Ref("relu"),)


def test_a_size_input_is_not_a_tensor() -> None:
    code = module("y = in_0.view(s1, -1)", "return (y,)", arguments="self, in_0, s1: torch.SymInt")
    graph = parse(code)
    assert [node.target for node in graph.inputs] == ["", "torch.SymInt"]
    assert "s1: torch.SymInt" in emit(graph)
    assert [node.target for node in parse(code.replace("torch.SymInt", '"Sym(s1)"')).inputs] == ["", "torch.SymInt"]


def test_inner_calls_become_nodes_of_their_own() -> None:
    graph = parse(module("add = torch.relu(in_0 + in_1.float()).sum(-1)", "return (add * 2,)"))
    assert [(node.name, node.target) for node in graph.operations] == [
        ("float_1", "float"),
        ("add_1", "operator.add"),
        ("relu", "torch.relu"),
        ("add", "sum"),
        ("mul", "operator.mul"),
    ]


def test_results_are_unpacked() -> None:
    graph = parse(module("a, (b, _) = torch.f(in_0)", "c, d = b, a", "return (c, d)"))
    assert [(node.name, node.args) for node in graph.operations[1:]] == [
        ("a", (Ref("f"), 0)),
        ("getitem", (Ref("f"), 1)),
        ("b", (Ref("getitem"), 0)),
        ("_", (Ref("getitem"), 1)),
    ]
    assert graph.result == (Ref("b"), Ref("a"))


def test_a_name_assigned_again_means_the_new_value() -> None:
    graph = parse(module("x = torch.relu(in_0)", "x = torch.exp(x)", "in_0 = x * 2", "return (in_0, x)"))
    assert [(node.name, node.args[0]) for node in graph.operations] == [
        ("x", Ref("in_0")),
        ("x_1", Ref("x")),
        ("in_0_1", Ref("x_1")),
    ]
    assert graph.result == (Ref("in_0_1"), Ref("x_1"))


def test_a_change_in_place_gives_its_name_a_new_value() -> None:
    code = module(
        "tmp_1 = torch.arange(14)",
        "tmp_1 += 2",
        "tmp_2 = tmp_1",
        "tmp_1 *= in_0",
        "in_1[0, slice(1, None, None)] = tmp_2",
        "tmp_5 = in_1",
        "in_1[0] += 1",
        "return (tmp_1, tmp_2, tmp_5)",
    )
    graph = parse(code)
    assert [(node.name, node.target) for node in graph.operations] == [
        ("tmp_1", "torch.arange"),
        ("tmp_2", "operator.iadd"),
        ("tmp_1_1", "operator.imul"),
        ("tmp_5", "operator.setitem"),
        ("getitem", "operator.getitem"),
        ("iadd", "operator.iadd"),
        ("setitem", "operator.setitem"),
    ]
    assert graph.by_name["tmp_1_1"].args == (Ref("tmp_2"), Ref("in_0"))
    assert graph.result == (Ref("tmp_1_1"), Ref("tmp_2"), Ref("in_1"))
    assert facts(parse(emit(graph))) == facts(graph)


def test_a_change_in_place_is_emitted_as_a_call_where_the_old_name_is_read_later() -> None:
    graph = parse(module("y = operator.iadd(in_0, 1)", "return (y, in_0)", imports="import torch\nimport operator"))
    assert "y = operator.iadd(in_0, 1)" in emit(graph)
    assert facts(parse(emit(graph))) == facts(graph)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["y = in_9 + 1", "return y"], "Line 7: in_9 is read before it is assigned"),
        (["if in_0:", "    y = 1", "return y"], "Line 7: if is not straight-line code"),
        (["y = (", "return y"], "Line 7: not valid Python"),
        (["y = self.conv(in_0)", "return y"], "Line 7: forward reads self.conv; every tensor must be an argument"),
        (["y = os.system('true')", "return y"], "Line 7: os.system does not belong to torch, operator or math"),
        (["y = eval('1')", "return y"], "Line 7: eval is not a tensor operation"),
        (["y = __import__('os')", "return y"], "Line 7: __import__ is not a tensor operation"),
        (["y = torch.__builtins__", "return y"], "Line 7: torch.__builtins__: __builtins__ is not a tensor operation"),
        (["y = in_0.__reduce_ex__(2)", "return y"], "Line 7: __reduce_ex__ is not a tensor operation"),
        (["y = in_0.__class__", "return y"], "Line 7: __class__ is not a tensor operation"),
        (["y = getattr(in_0, '__class__')", "return y"], "Line 7: __class__ is not a tensor operation"),
        (["y = torch.cat(*in_0)", "return y"], "Line 7: starred arguments"),
        (["y = in_0 if in_1 else 2", "return y"], "Line 7: in_0 if in_1 else 2 is not a tensor operation"),
        (["y = f'{in_0}'", "return y"], "Line 7: f'{in_0}' is not a tensor operation"),
        (["y = 1j * in_0", "return y"], "Line 7: complex literals"),
        (["y = in_0(1)", "return y"], "Line 7: in_0 is a value, not a function"),
        (["in_0.grad = in_1", "return in_0"], "Line 7: only names and items can be assigned to"),
        (["a, b = (in_0, in_1, in_0)", "return a"], "Line 7: 3 values cannot be unpacked into 2 names"),
        (["y = in_0 + 1"], "Line 6: forward returns nothing"),
    ],
)
def test_other_code_is_refused_with_its_line(lines: list[str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(module(*lines))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", "This file has no class with a method forward"),
        ("class GraphModule: pass", "This file has no class with a method forward"),
        ("x = \0", "not valid Python"),
        ("def forward(x):\n    return " + "-" * 100_000 + "x", ""),
        ("def forward(x):\n    return " + "x" + ".a" * 20_000, ""),
        ("def forward(*x):\n    return x", "Line 1: *args and **kwargs cannot be inputs"),
    ],
)
def test_a_file_without_a_module_is_refused(code: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(code)
    assert message in str(caught.value)


def test_one_function_of_a_pass_is_parsed_alone() -> None:
    code = "import torch\nimport triton\n\ndef pattern(a, b):\n    return torch.relu(a + b), a\n\nx = triton.jit(1)\n"
    assert parse_function(code, "pattern").result == (Ref("relu"), Ref("a"))
    with pytest.raises(BadInput, match="no function 'replacement_args'"):
        parse_function(code, "replacement_args")


def test_emitted_source_has_the_shape_of_a_recorded_module() -> None:
    code = module(
        "tmp_0 = in_0.to(device(type='cuda', index=0), torch.float16)",
        "tmp_1 = -1.0 * tmp_0",
        "tmp_2 = tmp_1[(slice(None, None, None), None, 0)]",
        "tmp_2 += in_1",
        "tmp_3 = tmp_2",
        "tmp_4 = torch.nn.functional.softmax(tmp_3, dim=-1)",
        "tmp_5 = tmp_4.T",
        "return (tmp_5,)",
    )
    assert emit(parse(code)) == code


def test_values_can_be_freed_after_their_last_use() -> None:
    code = module("a = torch.relu(in_0)", "a += in_1", "b = a", "c = b * b", "return (c, in_1)")
    source = emit(parse(code), release=True)
    assert "a = torch.relu(in_0);  in_0 = None" in source
    assert "c = b * b;  b = None" in source
    assert "in_1 = None" not in source
    assert facts(parse(source)) == facts(parse(code))


def test_emitted_source_runs() -> None:
    graph = parse(
        module("a = in_0 + 1", "b = (a, in_1)", "c = operator.getitem(b, 0)", "c -= 2", "d = c ** 2", "e = (-2) ** d",
               "f = max(e, d)", "return (f, -d, [e])", imports="import operator")
    )  # fmt: skip
    source = emit(graph).replace("import torch\n", "").replace("torch.nn.Module", "object")
    space: dict[str, type] = {}
    exec(source, space)
    assert space["GraphModule"]().forward(4, 0) == (9, -9, [-512])


@pytest.mark.parametrize(
    "node",
    [
        Node("x; import os", NodeKind.CALL, "torch.relu", (Ref("in_0"),)),
        Node("y", NodeKind.CALL, "os.system", ("true",)),
        Node("y", NodeKind.CALL, "exec", ("1",)),
        Node("y", NodeKind.CALL, "torch.relu(1); x", (Ref("in_0"),)),
        Node("y", NodeKind.CALL, "torch.relu", (), (("a=1); x(b", 1),)),
        Node("y", NodeKind.CALL, "torch.relu", (Symbol("torch.float32); x("),)),
        Node("y", NodeKind.METHOD, "__class__", (Ref("in_0"),)),
        Node("y", NodeKind.METHOD, "relu", ()),
        Node("y", NodeKind.CALL, "builtins.getattr", (Ref("in_0"), "__class__")),
        Node("y", NodeKind.CALL, "builtins.getattr", (Ref("in_0"), Ref("in_0"))),
        Node("torch", NodeKind.CALL, "torch.relu", (Ref("in_0"),)),
        Node("fused", NodeKind.CALL, "fused", (Ref("in_0"),)),
    ],
)
def test_a_hostile_graph_cannot_write_source(node: Node) -> None:
    graph = Graph((Node("in_0", NodeKind.INPUT, "in_0"), node), (Ref(node.name),))
    with pytest.raises(BadInput):
        emit(graph)


def test_one_operation_can_be_written_alone() -> None:
    assert expression(Node("y", NodeKind.METHOD, "view", (Ref("x"), 2, -1))) == "x.view(2, -1)"
    assert expression(Node("y", NodeKind.CALL, "operator.mul", (0.5, Ref("x")))) == "0.5 * x"


def test_a_whole_model_is_read_in_one_go() -> None:
    lines = [f"tmp_{index + 1} = torch.relu(tmp_{index}) + in_1" for index in range(4000)]
    graph = parse(module("tmp_0 = in_0", *lines, "return (tmp_4000,)"))
    assert len(graph.operations) == 8000
    assert len(emit(graph).splitlines()) > 8000
    assert sys.getrecursionlimit() < 8000


def test_every_real_subgraph_survives_the_round_trip() -> None:
    files = sorted(REAL_TASKS.glob("**/model.py"))
    if not files:
        pytest.skip("no real tasks beside the project")
    for file in files:
        graph = parse(file.read_text())
        assert graph.operations, file
        assert facts(parse(emit(graph))) == facts(graph), file
        assert facts(parse(emit(graph, release=True))) == facts(graph), file
