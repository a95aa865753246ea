import pytest

from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit, parse_function


def placed_call(line: str, device: str) -> str:
    graph = parse_function(f"def f(x):\n    y = {line}\n    return y\n", "f")
    return emit(placed(graph, device)).splitlines()[-2].strip().removeprefix("y = ")


@pytest.mark.parametrize(
    ("line", "on_cpu"),
    [
        ("torch.arange(14, device=device(type='cuda', index=0))", "torch.arange(14, device=device(type='cpu'))"),
        ("torch.arange(14, device='cuda:0')", "torch.arange(14, device=device(type='cpu'))"),
        ("torch.arange(14, device=torch.device('cuda', 1))", "torch.arange(14, device=device(type='cpu'))"),
        ("x.to(device(type='cuda', index=0), torch.float16)", "x.to(device(type='cpu'), torch.float16)"),
        ("x.to('cuda')", "x.to(device(type='cpu'))"),
        ("x.to(dtype=torch.bool, device='cuda:3')", "x.to(dtype=torch.bool, device=device(type='cpu'))"),
        ("x.cuda()", "x.to(device(type='cpu'))"),
        ("x.cuda(0, non_blocking=True)", "x.to(device(type='cpu'), non_blocking=True)"),
        ("x.cuda(device(type='cuda', index=0), True)", "x.to(device(type='cpu'), non_blocking=True)"),
        ("x.cpu()", "x.to(device(type='cpu'))"),
        (
            "torch.amp.autocast_mode._enter_autocast('cuda', None, False, None)",
            "torch.amp.autocast_mode._enter_autocast('cpu', None, False, None)",
        ),
        ("x.to(torch.float16)", "x.to(torch.float16)"),
        ("torch.f(x, ['cuda', 1], 'cudnn', 0)", "torch.f(x, ['cpu', 1], 'cudnn', 0)"),
    ],
)
def test_every_spelling_of_a_device_is_replaced(line: str, on_cpu: str) -> None:
    assert placed_call(line, "cpu") == on_cpu
    assert placed_call(line, "cuda") == on_cpu.replace("type='cpu'", "type='cuda', index=0").replace("'cpu'", "'cuda'")


def test_a_node_without_a_device_stays_the_same_object() -> None:
    graph = parse_function("def f(x):\n    return torch.relu(x[:, 0])\n", "f")
    assert all(before is after for before, after in zip(graph.nodes, placed(graph, "cpu").nodes))
