"""The static rules: what they refuse, where, and what they must let pass."""

import pytest

from passnet_core.passes.rules import (
    DYNAMIC_CODE,
    FILE_NAME,
    FORBIDDEN_IMPORT,
    MISSING_FUNCTION,
    REPLACEMENT_CAP,
    RULES,
    SIGNATURE,
    SYNTAX,
    TORCH_CALL,
    findings,
)
from passnet_core.records import Bundle, Finding, PassFile

HONEST = """\
import os
import sys

import torch
import triton
import triton.language as tl
from torch import Tensor

sys.path.insert(0, os.path.dirname(__file__))
from shared_kernel import launch
from pass_dir.shared_kernel import launch as launch_again


def pattern(a, b):
    s = a + b
    return torch.nn.functional.relu(s), torch.softmax(s, dim=-1)


def replacement_args(a, b):
    return (a, b, torch.float32, "route")


@triton.jit
def kernel(x_pointer, count, BLOCK: tl.constexpr):
    x = tl.exp(tl.load(x_pointer + tl.arange(0, BLOCK)))
    tl.store(x_pointer, x.to(tl.float32))


@torch.fx.wrap
def replacement(a: torch.Tensor, b: "torch.Tensor", dtype: torch.dtype, route) -> tuple[Tensor, ...]:
    out = torch.empty_like(a, dtype=torch.float16, memory_format=torch.contiguous_format)
    more = torch.full((2,), float("-inf"), dtype=getattr(torch, "bfloat16"), device=a.device)
    if isinstance(a, torch.Tensor) and a.dtype in (torch.half, torch.int8, torch.bool):
        launch(a.contiguous().view(-1), out.eval() if False else out)
    kernel[(triton.cdiv(out.numel(), 64),)](out, 3, BLOCK=64)
    return out, more


def replacement_func():
    return replacement
"""
SHARED = "import torch\nimport torch as t\n\n\ndef launch(a, out):\n    return torch.zeros_like(a)\n"
FRAME = """\
import torch
import torch as t
{top}

def pattern(a, b):
    return torch.add(a, b)

def replacement_args(a, b):
    return (a, b)

def f(a, b):
    {body}
    return a

def replacement_func():
    return f
"""


def found(code: str, helper: str = SHARED, cap: int | None = None) -> tuple[Finding, ...]:
    return findings(Bundle((PassFile("Pass.py", code),), (PassFile("shared_kernel.py", helper),)), cap)


def in_frame(body: str = "pass", top: str = "", helper: str = SHARED) -> set[str]:
    """The fatal rules that refuse a pass with this line in its replacement, or at its top."""
    return {each.rule for each in found(FRAME.format(top=top, body=body), helper) if each.fatal}


def test_an_honest_bundle_has_no_finding() -> None:
    assert found(HONEST, cap=1) == ()
    assert in_frame() == set()


def test_a_finding_names_file_line_column_rule_and_remedy() -> None:
    (finding,) = found(FRAME.format(top="", body="é = 'ünï'; t.sigmoid(a)"))
    assert (finding.file, finding.line, finding.column) == ("Pass.py", 12, 16)
    assert finding.rule == TORCH_CALL
    assert finding.message == "torch.sigmoid is called outside pattern and replacement_args."
    assert "Triton kernel" in finding.remedy
    assert finding.fatal


@pytest.mark.parametrize(
    "body",
    [
        "torch.relu(a)",
        "torch.nn.functional.gelu(a)",
        "t.exp(a)",
        "torch.ops.aten.relu(a)",
        "getattr(torch, 'relu')(a)",
        "g = torch.relu; g(a)",
        "g, h = torch.relu, 1",
        "m = torch; m.relu(a)",
        "(n := torch).relu(a)",
        "(torch if a else t).relu(a)",
        "list(map(torch.relu, [a]))",
        "{'relu': torch.relu}['relu'](a)",
        "return torch.relu",
        "torch.Tensor.relu(a)",
        "(lambda x: torch.relu(x))(a)",
        "pattern(a, b)",
        "torch.compile(f)",
        "torch.cuda.synchronize = print",
        "import torch as inner; inner.relu(a)",
        "import shared_kernel; shared_kernel.torch.relu(a)",
        "from shared_kernel import t as again; again.relu(a)",
    ],
)
def test_torch_may_only_allocate_in_a_replacement(body: str) -> None:
    assert TORCH_CALL in in_frame(body)


@pytest.mark.parametrize("top", ["from torch import relu as r\nx = r(1)", "@torch.no_grad()\ndef g(): pass"])
def test_torch_may_only_allocate_at_the_top_of_a_file(top: str) -> None:
    assert TORCH_CALL in in_frame(top=top)


def test_torch_may_only_allocate_in_helpers() -> None:
    (finding,) = found(HONEST, "import torch\ndef launch(a, out):\n    return torch.relu(a)\n")
    assert (finding.file, finding.line, finding.rule) == ("shared_kernel.py", 3, TORCH_CALL)


def test_a_helper_cannot_hide_library_calls_in_a_function_named_pattern() -> None:
    assert TORCH_CALL in in_frame(helper="import torch\ndef pattern(a):\n    return torch.relu(a)\n")


def test_names_that_only_look_like_torch_are_free() -> None:
    assert in_frame("torch = a; torch.relu(b)") == set()
    assert in_frame("relu = a.relu; a.exp().sum()") == set()
    assert in_frame("eval = a.view; eval(1)") == set()
    assert in_frame("import re; re.compile('x')") == set()


@pytest.mark.parametrize(
    "top",
    [
        "import torch.nn",
        "import torch.nn.functional as F",
        "from torch import nn",
        "from torch.nn import functional",
        "from torch.nn.functional import relu",
        "import torch.ops",
        "from torch.autograd import Function",
        "from torch import *",
    ],
)
def test_forbidden_imports(top: str) -> None:
    assert in_frame(top=top) == {FORBIDDEN_IMPORT}


def test_an_import_inside_pattern_is_forbidden_as_well() -> None:
    code = FRAME.format(top="", body="pass").replace("return torch.add(a, b)", "from torch import nn; return nn.f(a)")
    assert {each.rule for each in found(code)} == {FORBIDDEN_IMPORT}


@pytest.mark.parametrize(
    "body",
    [
        "eval('1')",
        "exec('x = 1')",
        "__import__('torch')",
        "compile('1', '', 'eval')",
        "e = eval; e('1')",
        "import builtins; builtins.exec('1')",
        "getattr(torch, 're' + 'lu')(a)",
        "getattr(t, a)",
        "vars(torch)['relu'](a)",
        "torch.__dict__['relu'](a)",
        "import sys; sys.modules['torch']",
        "import importlib; importlib.import_module('os')",
        "from importlib import import_module as im; im('os')",
    ],
)
def test_dynamic_code(body: str) -> None:
    assert DYNAMIC_CODE in in_frame(body)


def test_helpers_may_be_imported_by_their_literal_name() -> None:
    assert in_frame("import importlib; importlib.import_module('shared_kernel').launch(a, b)") == set()


def test_a_syntax_error_is_named_with_its_place() -> None:
    (finding,) = found("import torch\ndef pattern(a:\n    return a\n")
    assert (finding.file, finding.line, finding.rule) == ("Pass.py", 2, SYNTAX)
    assert found("x = 'a\0b'")[0].rule == SYNTAX


def test_nesting_that_overflows_the_parser_is_a_finding() -> None:
    assert SYNTAX in {each.rule for each in found("x = " + "-" * 100_000 + "1")}
    assert SYNTAX in {each.rule for each in found("x = " + "(" * 5_000 + ")" * 5_000)}


def test_names_bound_to_one_another_take_no_longer() -> None:
    names = [f"n{place}" for place in range(40)]
    tangle = "\n".join(f"{one} = {other}" for one in names for other in [*names, "torch"])
    assert TORCH_CALL in in_frame("n7.relu(a)", top=tangle)
    assert findings(passes("return n7"), 1) == ()
    assert in_frame(top=tangle + "\nreplacement_func = n7") == set()


def test_every_missing_function_is_named() -> None:
    assert [each.message for each in found("x = 1")] == [
        "This pass has no function pattern.",
        "This pass has no function replacement_args.",
        "This pass has no function replacement_func.",
    ]
    assert {each.rule for each in found("x = 1")} == {MISSING_FUNCTION}


def test_functions_may_be_imported_or_assigned() -> None:
    helper = "def pattern(a):\n    return a\ndef make():\n    return lambda: None\n"
    code = "from shared_kernel import pattern\nfrom shared_kernel import *\nimport shared_kernel\n"
    assert found(code, helper) == ()
    code = "from shared_kernel import pattern, make\nreplacement_args = pattern\nreplacement_func = make()\n"
    assert found(code, helper) == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("replacement_args(a, b)", "replacement_args(a)", "replacement_args takes (a), but pattern takes (a, b)."),
        ("pattern(a, b)", "pattern(*inputs)", "variable number"),
        ("replacement_func()", "replacement_func(x)", "replacement_func takes (x), but it is called without"),
        ("def replacement_func()", "async def replacement_func()", "asynchronous"),
    ],
)
def test_signatures(old: str, new: str, said: str) -> None:
    fatal = [each for each in found(FRAME.format(top="", body="pass").replace(old, new)) if each.fatal]
    assert any(said in each.message for each in fatal)
    assert {each.rule for each in fatal} == {SIGNATURE}


def test_swapped_names_are_remarked_but_not_refused() -> None:
    (finding,) = found(FRAME.format(top="", body="pass").replace("replacement_args(a, b)", "replacement_args(b, a)"))
    assert finding.rule == SIGNATURE
    assert not finding.fatal


def passes(*replacements: str) -> Bundle:
    """One pass per replacement_func body, with a shared helper."""
    code = (
        "from shared import one, two\nimport shared\ndef pattern(a): return a\ndef replacement_args(a): return (a,)\n"
    )
    files = [
        PassFile(f"P{place}.py", f"{code}def own(a): return a\ndef replacement_func():\n    {body}\n")
        for place, body in enumerate(replacements)
    ]
    return Bundle(tuple(files), (PassFile("shared.py", "def one(a): pass\ndef two(a): pass\nagain = one\n"),))


def test_the_cap_counts_distinct_replacement_functions() -> None:
    shared = passes("return one", "return shared.one", "return shared.again", "return one")
    assert findings(shared, 1) == ()
    several = passes("return one", "return own", "return own", "return two")
    assert [(each.file, each.rule) for each in findings(several, 1)] == [
        ("P1.py", REPLACEMENT_CAP),
        ("P2.py", REPLACEMENT_CAP),
        ("P3.py", REPLACEMENT_CAP),
    ]
    assert len(findings(several, 3)) == 1
    assert findings(several) == ()


def test_a_file_name_that_leaves_the_folder_is_refused() -> None:
    bad = findings(Bundle((PassFile("../x.py", "a = 1"),)))
    assert [each.rule for each in bad] == [FILE_NAME]
    assert bad[0].fatal


def test_findings_come_in_the_order_of_the_bundle() -> None:
    bundle = Bundle((PassFile("Z.py", "eval('')\nexec('')\n"), PassFile("A.py", "(")), ())
    assert [each.file for each in findings(bundle) if each.rule in (DYNAMIC_CODE, SYNTAX)] == ["Z.py", "Z.py", "A.py"]


def test_every_rule_is_described() -> None:
    assert set(RULES) == {
        SYNTAX,
        FILE_NAME,
        MISSING_FUNCTION,
        SIGNATURE,
        TORCH_CALL,
        FORBIDDEN_IMPORT,
        DYNAMIC_CODE,
        REPLACEMENT_CAP,
    }
