import pytest

from passnet_core.graphs.effects import changed, effects, has_effect, is_random
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.graphs.source import parse_function


def graph_of(code: str) -> Graph:
    parameters, _, body = code.partition(": ")
    return parse_function(f"def f({parameters}):\n    {body}\n", "f")


@pytest.mark.parametrize(
    ("line", "touched"),
    [
        ("y = torch.relu_(x)", ["x"]),
        ("y = x.add_(1)", ["x"]),
        ("y = torch.nn.functional.relu(x, inplace=True)", ["x"]),
        ("y = torch.nn.functional.relu(input=x, inplace=True)", ["x"]),
        ("y = torch.nn.functional.relu(x, True)", ["x"]),
        ("y = torch.nn.functional.hardtanh(x, 0.0, 6.0, True)", ["x"]),
        ("y = torch.exp(z, out=x)", ["x"]),
        ("y = operator.iadd(x, 1)", ["x"]),
        ("y = operator.setitem(x, 0, z)", ["x"]),
        ("y = torch._foreach_add_([x, z], 1.0)", ["x", "z"]),
        ("y = torch.nn.functional.batch_norm(z, x, x, None, None, True, 0.5, 1e-05)", ["x", "x"]),
        ("y = torch.nn.functional.batch_norm(z, x, x, None, None, False, 0.5, 1e-05)", []),
        ("y = torch.nn.functional.embedding(z, x, None, 0.1)", ["x"]),
        ("y = torch.nn.functional.embedding(z, x)", []),
        ("y = torch.index_put_(input=x, indices=(z,), values=z)", ["x"]),
        ("y = torch.ops.mine.bump(x, n=z)", ["x", "z"]),
        ("y = x.__iadd__(z)", ["x"]),
        ("y = torch.nn.functional.relu(x, inplace=False)", []),
        ("y = torch.sum(x, -1, True)", []),
        ("y = operator.and_(x, z)", []),
        ("y = operator.invert(x)", []),
        ("y = x.__and__(z)", []),
    ],
)
def test_an_operation_changes_these_values_in_place(line: str, touched: list[str]) -> None:
    node = graph_of(f"x, z: {line}; return y").operations[0]
    assert changed(node) == tuple(Ref(name) for name in touched)
    assert has_effect(node) == bool(touched)


@pytest.mark.parametrize(
    ("call", "random"),
    [
        ("torch.nn.functional.dropout(x, 0.1, False, False)", False),
        ("torch.nn.functional.dropout(x, p=0.1, training=False)", False),
        ("torch.nn.functional.dropout(x, p=0.1, training=True)", True),
        ("torch.nn.functional.dropout(x, 0.1)", True),
        ("torch.rand([])", True),
        ("torch.empty_like(x).uniform_(0.0, 1.0)", True),
        ("torch.lobpcg(x, 1)", True),
        ("torch.relu(x)", False),
    ],
)
def test_an_operation_draws_random_numbers_or_not(call: str, random: bool) -> None:
    assert is_random(graph_of(f"x: y = {call}; return y").operations[-1]) == random


def test_reads_and_changes_of_one_memory_keep_their_order() -> None:
    steps = "v = x.view(-1); a = torch.exp(x); x += 1; b = torch.sin(v); c = torch.rand(3); d = torch.rand(3)"
    after = effects(graph_of(f"x: {steps}; return (a, b, c, d)")).after
    assert after["a"] == ("x_1",)
    assert after["v"] == ("x_1",)
    assert after["x_1"] == ("b",)
    assert after["c"] == ("d",)
    assert "b" not in after


ALIASES = (
    "x.view(-1)", "x.reshape(-1)", "torch.reshape(input=x, shape=(-1,))", "x.flatten()", "torch.ravel(x)",
    "x.contiguous()", "x.to(torch.float32)", "x.to(x)", "x.float()", "x.half()", "x.type_as(x)",
    "x.type(torch.float32)", "x.cpu()", "x.data", "x.mT", "x.broadcast_to((4, 9))", "torch.atleast_1d(x)",
    "torch.broadcast_tensors(x, x)[1]", "x.reshape_as(x)", "torch.hsplit(x, 3)[1]",
    "torch.split_with_sizes(x, [1, 3])[1]", "torch.swapdims(x, 0, 1)", "x.adjoint()", "+x", "x.resolve_conj()",
    "torch.asarray(x)", "torch.transpose(input=x, dim0=0, dim1=1)", "torch.nn.functional.dropout(x, 0.5, False)",
    "torch.dropout(x, 0.5, False)", "torch.nn.functional.relu(x, inplace=True)", "torch.exp(x, out=x)", "x[:, 1:]",
    "torch.meshgrid(x, indexing='ij')[0]", "torch.ops.mine.view(x)", "torch.ops.aten.view.default(x, [-1])",
)  # fmt: skip


@pytest.mark.parametrize("alias", ALIASES)
def test_a_change_is_seen_through_whatever_may_share_the_memory(alias: str) -> None:
    graph = graph_of(f"x, z: v = {alias}; s = x + z; w = v.add_(1.0); y = torch.relu(s); return (y, w)")
    assert effects(graph).before["w"][-1] == "s"


@pytest.mark.parametrize("copy", ["x.clone()", "x * 1.0", "x.to(torch.float32, copy=True)", "torch.cat([x])", "x.sum()",
                                  "torch.nn.functional.dropout(x, 0.5, True)", "torch.relu(x)"])  # fmt: skip
def test_a_change_of_a_copy_leaves_the_order_free(copy: str) -> None:
    graph = graph_of(f"x, z: v = {copy}; s = x + z; w = v.add_(1.0); y = torch.relu(s); return (y, w)")
    assert "w" not in effects(graph).before


def test_without_changes_no_order_is_required() -> None:
    found = effects(graph_of("x: v = x.view(-1); a = torch.exp(x); b = torch.sin(v); return (a, b)"))
    assert not found.before
    assert not found.after
