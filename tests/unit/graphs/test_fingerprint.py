import pytest

from passnet_core.graphs.fingerprint import operation_key, structure
from passnet_core.graphs.source import parse_function


def digests(code: str) -> tuple[str, str]:
    parameters, _, body = code.partition(": ")
    graph = parse_function(f"def f({parameters}):\n    {body}\n", "f")
    return structure(graph), operation_key(graph)


def test_names_do_not_matter() -> None:
    left = digests("x, y: a = torch.sum(x, dim=-1, keepdim=True); b = a + y; return (b, a)")
    right = digests("in_0, in_1: t = torch.sum(in_0, keepdim=True, dim=-1); u = t + in_1; return (u, t)")
    assert left == right


@pytest.mark.parametrize(
    "other",
    [
        "x, y: a = torch.sum(x, dim=-1); b = y + a; return (b, a)",
        "x, y: a = torch.sum(x, dim=1); b = a + y; return (b, a)",
        "x, y: a = torch.sum(x, dim=-1.0); b = a + y; return (b, a)",
        "x, y: a = torch.sum(x, dim=-1); b = a + y; return (a, b)",
        "x, y, z: a = torch.sum(x, dim=-1); b = a + y; return (b, a)",
        "x, y: a = x.sum(dim=-1); b = a + y; return (b, a)",
    ],
)
def test_operations_arguments_and_results_matter(other: str) -> None:
    assert digests("x, y: a = torch.sum(x, dim=-1); b = a + y; return (b, a)")[0] != digests(other)[0]


def test_look_alikes_share_the_operation_key() -> None:
    left = digests("x, y: a = torch.sum(x, dim=-1); b = a + y; return b")
    right = digests("x: a = x.sum(0); a += 1; return (a, x)")
    assert left[0] != right[0]
    assert left[1] == right[1]
