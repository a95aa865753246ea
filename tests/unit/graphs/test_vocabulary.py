import pytest

from passnet_core.graphs.ir import Node, NodeKind, Ref
from passnet_core.graphs.source import parse_function
from passnet_core.graphs.vocabulary import FAMILIES, FAMILY, operator_family, operator_label, operator_sequence


def node(target: str, *args: object, kind: NodeKind = NodeKind.CALL) -> Node:
    return Node("y", kind, target, (Ref("x"), *args))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "kind", "label", "family"),
    [
        ("torch.nn.functional.relu", NodeKind.CALL, "relu", "pointwise"),
        ("torch.relu_", NodeKind.CALL, "relu", "pointwise"),
        ("operator.iadd", NodeKind.CALL, "add", "pointwise"),
        ("operator.truediv", NodeKind.CALL, "div", "pointwise"),
        ("operator.and_", NodeKind.CALL, "and", "pointwise"),
        ("operator.invert", NodeKind.CALL, "not", "pointwise"),
        ("operator.index", NodeKind.CALL, "index", "other"),
        ("operator.matmul", NodeKind.CALL, "matmul", "matmul"),
        ("torch._C._nn.linear", NodeKind.CALL, "linear", "matmul"),
        ("torch.conv2d", NodeKind.CALL, "conv2d", "convolution"),
        ("view", NodeKind.METHOD, "view", "layout"),
        ("mean", NodeKind.METHOD, "mean", "reduction"),
        ("__and__", NodeKind.METHOD, "and", "pointwise"),
        ("operator.getitem", NodeKind.CALL, "getitem", "indexing"),
        ("torch.arange", NodeKind.CALL, "arange", "creation"),
        ("torch.nn.functional.softmax", NodeKind.CALL, "softmax", "softmax"),
        ("torch.nn.functional.layer_norm", NodeKind.CALL, "layer_norm", "normalisation"),
        ("torch.nn.functional.embedding", NodeKind.CALL, "embedding", "embedding"),
        ("torch._C._nn.scaled_dot_product_attention", NodeKind.CALL, "scaled_dot_product_attention", "attention"),
        ("replacement_0", NodeKind.CALL, "replacement_0", "other"),
    ],
)  # fmt: skip
def test_an_operation_has_a_short_name_and_a_family(target: str, kind: NodeKind, label: str, family: str) -> None:
    assert operator_label(node(target, kind=kind)) == label
    assert operator_family(node(target, kind=kind)) == family


def test_attributes_and_inputs_have_labels_too() -> None:
    assert operator_label(node("builtins.getattr", "T")) == "T"
    assert operator_label(Node("in_0", NodeKind.INPUT, "")) == "in_0"
    assert operator_family(Node("add", NodeKind.INPUT, "")) == "other"


def test_every_family_has_labels() -> None:
    assert set(FAMILY.values()) | {"other"} == set(FAMILIES)


def test_the_sequence_leaves_out_operations_that_compute_nothing() -> None:
    code = """
def f(x, w):
    off = torch._C._set_grad_enabled(False)
    s = x.shape
    n = s[0]
    parts = torch.chunk(x, 2, dim=-1)
    a = parts[0]
    b = parts[1]
    c = torch.nn.functional.silu(a, inplace=True)
    c *= b
    d = c
    e = d[0]
    return (e @ w).view(n, -1)
"""
    assert operator_sequence(parse_function(code, "f")) == ("chunk", "silu", "mul", "getitem", "matmul", "view")
