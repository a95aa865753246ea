"""PassNet's own rule, to the letter: what it objects to, what it does not look at, and which passes are left out."""

import pytest

from passnet_core.bundles.static_rules.findings import admitted, findings
from passnet_core.bundles.static_rules.rules import FORBIDDEN_IMPORT, SYNTAX, TORCH_CALL
from passnet_core.records import Bundle, PassFile

FRAME = """\
import torch
import torch as t
from torch import exp as e
{top}

def pattern(a, b):
    {traced}
    return torch.add(a, b)

def replacement_args(a, b):
    return (a, b, torch.add(1, 2))
@torch.fx.wrap
def f(a, b, c):
    {body}
    return a

def replacement_func():
    return f
"""


def broken(body: str = "pass", *, top: str = "", traced: str = "pass") -> set[str]:
    """The rules that a pass breaks with this line in its replacement, at its top level, or in its pattern."""
    code = FRAME.format(top=top, traced=traced, body=body)
    return {each.rule for each in findings(Bundle((PassFile("Pass.py", code),)), passnet=True)}


@pytest.mark.parametrize(
    "body",
    [
        "torch.relu(a)",
        "t.relu(a)",
        "e(a)",
        "from torch import relu as r; r(a)",
        "g = torch.relu; g(a)",
        "m = torch; m.relu(a)",
        "m = n = torch; n.relu(a)",
        "torch.Tensor.relu(a)",
        "torch.device('cuda')",
        "torch.finfo(a.dtype)",
        "torch.fx.wrap(f)",
        "(lambda x: torch.relu(x))(a)",
        "torch.relu(a).view(-1)",
        "g = torch.nn; g.functional.relu(a)",
    ],
)
def test_a_call_of_torch_that_is_no_allocation_is_refused(body: str) -> None:
    assert TORCH_CALL in broken(body)


@pytest.mark.parametrize(
    "body",
    [
        "a.softmax(-1)",
        "a @ b",
        "getattr(torch, 'relu')(a)",
        "list(map(torch.relu, [a]))",
        "{'relu': torch.relu}['relu'](a)",
        "(torch if a else t).relu(a)",
        "(n := torch).relu(a)",
        "g, h = torch.relu, 1; g(a)",
        "return torch.relu",
        "eval('1'); exec('x = 1'); __import__('ctypes')",
        "import os, ctypes, subprocess; os.system('true')",
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "pattern(a, b)",
    ],
)
def test_what_passnet_does_not_look_at_is_allowed(body: str) -> None:
    assert broken(body) == set()


def test_nine_functions_of_torch_allocate() -> None:
    names = "empty empty_like zeros zeros_like ones ones_like full full_like as_tensor"
    assert broken("; ".join(f"torch.{name}(a)" for name in names.split())) == set()
    assert broken("torch.empty_strided(a.shape, a.stride())") == {TORCH_CALL}


@pytest.mark.parametrize(
    "line",
    [
        "import torch.nn",
        "import torch.nn.functional as F",
        "from torch import nn",
        "from torch.nn import functional",
        "from torch.nn.functional import relu",
        "from torch.nn import *",
        "import torch.ops",
        "from torch.autograd import Function",
        "F = torch.nn.functional",
        "relu = torch.nn.functional.relu",
    ],
)
def test_nothing_of_three_modules_may_get_a_name(line: str) -> None:
    assert broken(top=line) == {FORBIDDEN_IMPORT}
    assert broken(line) == {FORBIDDEN_IMPORT}
    assert broken(traced=line) == {FORBIDDEN_IMPORT}


def test_pattern_may_call_everything_by_its_full_name() -> None:
    assert broken(traced="a = torch.nn.functional.gelu(a); b = torch.ops.aten.relu(b)") == set()


def test_only_functions_at_the_top_of_a_pass_are_patterns() -> None:
    assert broken(top="class C:\n    def pattern(a): torch.relu(a)") == {TORCH_CALL}
    assert broken(top="def g():\n    def replacement_args(a): torch.relu(a)") == {TORCH_CALL}
    assert broken(top="@torch.compile(fullgraph=True)\ndef g(): pass") == {TORCH_CALL}
    assert broken(top="@torch.fx.wrap\ndef g(): pass") == set()


def a_pass(name: str, body: str = "pass", *, top: str = "") -> PassFile:
    return PassFile(name, FRAME.format(top=top, traced="pass", body=body))


def test_a_pass_that_breaks_the_rule_is_left_out_and_the_others_stay() -> None:
    bundle = Bundle((a_pass("A.py", "t.relu(a); e(a)"), a_pass("B.py"), PassFile("C.py", "def pattern(a:\n")))
    found = admitted(bundle, passnet=True)
    assert [file.name for file in found.bundle.passes] == ["B.py"]
    assert [(each.file, each.rule, each.fatal) for each in found.findings] == [
        ("A.py", TORCH_CALL, False),
        ("A.py", TORCH_CALL, False),
        ("C.py", SYNTAX, False),
    ]
    assert found.left_out[0] == (
        "A.py is left out: line 14, rule torch-call: torch.relu is called outside pattern and replacement_args."
        " (1 more)"
    )
    assert found.left_out[1].startswith("C.py is left out: line 1, rule syntax: Not valid Python")
    assert {file.name for file in found.bundle.helpers} == {"A.py", "C.py"}, "they can still be imported"


def test_a_bundle_of_which_no_pass_is_left_is_rejected() -> None:
    found = findings(Bundle((a_pass("A.py", "t.relu(a)"), a_pass("B.py", "e(a)"))), passnet=True)
    assert [each.fatal for each in found] == [True, True]


def test_helpers_are_not_checked() -> None:
    helper = PassFile("shared.py", "import torch.nn\ntorch.relu(1)\ndef (")
    bundle = Bundle((a_pass("A.py", top="from shared import g"),), (helper,))
    assert admitted(bundle, passnet=True).bundle == bundle
    assert findings(bundle, passnet=True) == ()


def test_no_other_file_takes_the_place_of_a_pass_that_was_checked() -> None:
    helpers = (PassFile("A.py", "other"), PassFile("../A.py", "other"), PassFile("A (1).py", "left over"))
    assert admitted(Bundle((a_pass("A.py"),), helpers), passnet=True).bundle == Bundle((a_pass("A.py"),))
