"""Usual mistakes in a first pass: the verdict names the line and says what to do, in words that a student knows."""

import threading

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, Device, EvalSpec, Job, PassFile, Stage, Subgraph, TensorSpec, Verdict
from tests.contract.judging import ADD_RELU, ample_s

pytestmark = pytest.mark.settled

RIGHT = """import torch
import triton
import triton.language as tl


def pattern(a, b):
    t = a + b
    return torch.nn.functional.relu(t)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(a_ptr + at, mask=mask)
    b = tl.load(b_ptr + at, mask=mask)
    tl.store(out_ptr + at, tl.maximum(a + b, 0.0), mask=mask)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    n = out.numel()
    add_relu_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
    return out


def replacement_func():
    return add_relu
"""

RELU = "    return torch.nn.functional.relu(t)\n"
STORE = "tl.store(out_ptr + at, tl.maximum(a + b, 0.0), mask=mask)"

MISTAKES: dict[str, tuple[tuple[str, str], Verdict, int, str]] = {
    "pattern without return": (
        (RELU, RELU.replace("return ", "")),
        Verdict.NO_MATCH,
        8,
        "pattern returns nothing. End it with every value that is used outside the match: return"
        " torch.nn.functional.relu(t).",
    ),
    "pattern that assigns its last value": (
        (RELU, RELU.replace("return", "y =")),
        Verdict.NO_MATCH,
        8,
        "return y. So the pass does not match.",
    ),
    "replacement without return": (
        ("    return out\n", ""),
        Verdict.WRONG_TYPE,
        28,
        "add_relu returns nothing. End it with what takes the place of the match: return out.",
    ),
    "pattern of two values, replacement of one": (
        (RELU, RELU.replace("return", "return t,")),
        Verdict.WRONG_SHAPE,
        29,
        "add_relu returns 1 value, but pattern returns 2 values.",
    ),
    "replacement_func that calls": (
        ("return add_relu\n", "return add_relu()\n"),
        Verdict.DOES_NOT_LOAD,
        33,
        "Name the replacement instead of calling it: return add_relu.",
    ),
    "replacement_func without return": (
        ("    return add_relu\n", "    add_relu\n"),
        Verdict.DOES_NOT_LOAD,
        33,
        "return add_relu.",
    ),
    "replacement_args with too few": (
        ("return (a, b)", "return (a,)"),
        Verdict.CRASHED,
        12,
        "replacement_args returns 1 argument, but add_relu takes (a, b).",
    ),
    "replacement_args without a tuple": (("return (a, b)", "return a"), Verdict.CRASHED, 12, "returns 1 argument"),
    "replacement_args without return": (
        ("return (a, b)", "(a, b)"),
        Verdict.CRASHED,
        12,
        "as a tuple: return (a, b).",
    ),
    "misspelt operation": (
        ("functional.relu(t)", "functional.rellu(t)"),
        Verdict.DOES_NOT_LOAD,
        8,
        "Did you mean relu?",
    ),
    "misspelt function of a kernel": (("tl.maximum(", "tl.maxinum("), Verdict.CRASHED, 21, "Did you mean maximum?"),
    "misspelt load": (("tl.load(a_ptr", "tl.laod(a_ptr"), Verdict.CRASHED, 19, "Did you mean load?"),
    "method in place of a function": (
        ("torch.nn.functional.relu(t)", "t.relu()"),
        Verdict.NO_MATCH,
        0,
        "the pattern has the method relu, but the graph has torch.nn.functional.relu",
    ),
    "store without mask": (
        (STORE, STORE.replace(", mask=mask", "")),
        Verdict.CRASHED,
        21,
        "Leave out such lanes by a mask",
    ),
    "grid that is a number": (
        ("[(triton.cdiv(n, 1024),)]", "[triton.cdiv(n, 1024)]"),
        Verdict.CRASHED,
        28,
        "Give the grid as a tuple",
    ),
    "launch without grid": (
        ("add_relu_kernel[(triton.cdiv(n, 1024),)](", "add_relu_kernel("),
        Verdict.CRASHED,
        17,
        "with the number of its programs",
    ),
    "block size that is no constant": (
        ("BLOCK: tl.constexpr", "BLOCK"),
        Verdict.COMPILE_FAILED,
        17,
        "BLOCK: tl.constexpr.",
    ),
    "block size that is no power of two": (
        ("BLOCK=1024", "BLOCK=1000"),
        Verdict.COMPILE_FAILED,
        17,
        "a power of 2 as the block size",
    ),
    "torch in a kernel": (
        ("tl.maximum(a + b, 0.0)", "torch.relu(a + b)"),
        Verdict.REJECTED,
        21,
        "torch.relu is called outside pattern",
    ),
    "kernel without triton.jit": (("@triton.jit\n", ""), Verdict.CRASHED, 27, "Write @triton.jit on the line above"),
    "launch with too few arguments": (
        ("(a, b, out, n, BLOCK", "(a, b, out, BLOCK"),
        Verdict.CRASHED,
        28,
        "missing 1 required positional argument: 'n'",
    ),
    "allocation without device": (
        ("torch.empty_like(a)", "torch.empty(a.shape, dtype=a.dtype)"),
        Verdict.CRASHED,
        28,
        "launched with out_ptr on the CPU",
    ),
    "result of another dtype": (
        ("torch.empty_like(a)", "torch.empty(a.shape, dtype=torch.int32, device=a.device)"),
        Verdict.WRONG_TYPE,
        0,
        "its dtype is int32, eager's float32",
    ),
    "indentation": (("    out = torch", "   out = torch"), Verdict.REJECTED, 27, "unexpected indent"),
    "syntax": (("def replacement_args(a, b):", "def replacement_args(a, b)"), Verdict.REJECTED, 11, "expected ':'"),
}
"""What is written in place of what, the verdict, the line that it names (0: none), and what it says."""
INPUTS = tuple(TensorSpec(name, (37, 50), "float32", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
SUBGRAPH = Subgraph("float32/0/made", "add-relu", "made here", ADD_RELU, INPUTS)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_usual_mistake_is_named_with_its_line_and_what_to_do(backend: LocalBackend, name: str) -> None:
    (right, wrong), verdict, line, words = MISTAKES[name]
    assert RIGHT.count(right) == 1, right
    bundle = Bundle((PassFile("add_relu.py", RIGHT.replace(right, wrong)),))
    spec = EvalSpec(Stage.VERIFY, Device.CPU, deadline_s=ample_s())
    found = backend.run(Job(SUBGRAPH, bundle, spec), lambda event: None, threading.Event())
    told = [found.reason, *(f"{each.file} line {each.line}: {each.message} {each.remedy}" for each in found.findings)]
    assert found.verdict is verdict, found.reason
    assert any(words in each for each in told), told
    assert line == 0 or f"add_relu.py line {line}" in found.reason, found.reason
