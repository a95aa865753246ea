"""The static rules: the code that they refuse, the place that they name, and the code that they must allow."""

import pytest

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.bundles.static_rules.rules import (
    ADDRESS,
    ARGUMENTS,
    DEVICE,
    DYNAMIC_CODE,
    FILE_NAME,
    FORBIDDEN_IMPORT,
    KERNEL_LANGUAGE,
    MISSING_FUNCTION,
    PATCHING,
    REPLACEMENT,
    REPLACEMENT_CAP,
    RETURN,
    RULES,
    SIGNATURE,
    SYNTAX,
    TORCH_CALL,
    WRAP,
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
@torch.fx.wrap
def f(a, b):
    {body}
    return a

def replacement_func():
    return f
"""


def found(code: str, helper: str = SHARED, cap: int | None = None) -> tuple[Finding, ...]:
    return findings(Bundle((PassFile("Pass.py", code),), (PassFile("shared_kernel.py", helper),)), cap)


def in_frame(body: str = "pass", top: str = "", helper: str = SHARED, passnet: bool = False) -> set[str]:
    """The fatal rules that a pass breaks with this line in its replacement, or at its top level. helper: is checked
    only if the pass imports shared_kernel."""
    bundle = Bundle((PassFile("Pass.py", FRAME.format(top=top, body=body)),), (PassFile("shared_kernel.py", helper),))
    return {each.rule for each in findings(bundle, passnet=passnet) if each.fatal}


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
        "import torch as inner; inner.relu(a)",
        "import shared_kernel; shared_kernel.torch.relu(a)",
        "from shared_kernel import t as again; again.relu(a)",
    ],
)
def test_torch_may_only_allocate_in_a_replacement(body: str) -> None:
    assert TORCH_CALL in in_frame(body)


@pytest.mark.parametrize("top", ["from torch import relu as r\nx = r(1)", "@torch.compile\ndef g(): pass"])
def test_torch_may_only_allocate_at_the_top_of_a_file(top: str) -> None:
    assert TORCH_CALL in in_frame(top=top)


def test_torch_may_only_allocate_in_helpers() -> None:
    (finding,) = found(HONEST, "import torch\ndef launch(a, out):\n    return torch.relu(a)\n")
    assert (finding.file, finding.line, finding.rule) == ("shared_kernel.py", 3, TORCH_CALL)


def test_a_helper_cannot_hide_library_calls_in_a_function_named_pattern() -> None:
    helper = "import torch\ndef pattern(a):\n    return torch.relu(a)\n"
    assert TORCH_CALL in in_frame(top="import shared_kernel", helper=helper)


def test_names_that_only_look_like_torch_are_allowed() -> None:
    assert in_frame("torch = a; torch.exp(b)") == set()
    assert in_frame("exp = a.exp; a.exp().sum()") == set()
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


def test_a_syntax_error_has_a_file_and_a_line() -> None:
    (finding,) = found("import torch\ndef pattern(a:\n    return a\n")
    assert (finding.file, finding.line, finding.rule) == ("Pass.py", 2, SYNTAX)
    assert found("x = 'a\0b'")[0].rule == SYNTAX


def test_nesting_that_overflows_the_parser_is_a_finding() -> None:
    assert SYNTAX in {each.rule for each in found("x = " + "-" * 100_000 + "1")}
    assert SYNTAX in {each.rule for each in found("x = " + "(" * 5_000 + ")" * 5_000)}


def test_names_bound_to_each_other_many_times_are_checked_quickly() -> None:
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


def test_swapped_parameter_names_are_a_warning() -> None:
    (finding,) = found(FRAME.format(top="", body="pass").replace("replacement_args(a, b)", "replacement_args(b, a)"))
    assert finding.rule == SIGNATURE
    assert not finding.fatal


def wrapped(name: str) -> str:
    return f"@torch.fx.wrap\ndef {name}(a): return a\n"


HEAD = "import torch\nfrom shared import one, two\nimport shared\n"
TRACED = "def pattern(a): return a\ndef replacement_args(a): return (a,)\n"


def passes(*replacements: str) -> Bundle:
    """One pass per replacement_func body, with a shared helper."""
    files = [
        PassFile(f"P{place}.py", f"{HEAD}{TRACED}{wrapped('own')}def replacement_func():\n    {body}\n")
        for place, body in enumerate(replacements)
    ]
    shared = f"import torch\n{wrapped('one')}{wrapped('two')}again = one\n"
    return Bundle(tuple(files), (PassFile("shared.py", shared),))


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
        PATCHING,
        KERNEL_LANGUAGE,
        ADDRESS,
        REPLACEMENT_CAP,
        RETURN,
        REPLACEMENT,
        ARGUMENTS,
        WRAP,
        DEVICE,
    }


# --- refused or allowed only by the strict profile --------------------------------------------------------------------

HABITS = """\
import contextlib
import functools
import importlib
import math
import os
import sys
from dataclasses import dataclass
from operator import mul

import numpy as np
import torch
import triton
import triton.language as tl

sys.path[:0] = [os.path.dirname(__file__)]
GRIDS = {}
ROUTES = {}
SIDE = []


def pattern(a, b):
    return torch.nn.functional.softmax(a @ b, -1).relu()


def replacement_args(a, b):
    return (a, b, "rows")


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["count"])
@triton.heuristics({"EVEN": lambda named: named["count"] % named["BLOCK"] == 0})
@triton.jit
def first(x, out, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(x + at, mask=at < count).to(tl.float32)
    tl.store(out + at, row.softmax() + row.sigmoid() + tl.dot(row, row).sum(0) @ row, mask=at < count)


def second(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.load(x).sigmoid())


second = triton.jit(second)


@functools.cache
def processors(index):
    return torch.cuda.get_device_properties(index).multi_processor_count


class Routes:
    def __init__(self):
        self.known = {}

    def softmax(self, x, out):
        first[(processors(torch.cuda.current_device()),)](x, out, x.numel())


ROUTED = Routes()
ALIGNED = 16
Routes.version = 2


@torch.no_grad()
def launch(a, b, route):
    assert a.is_contiguous() and a.stride(-1) == 1 and torch.finfo(a.dtype).bits >= 16
    a = a if a.is_contiguous() else a.contiguous()
    key = (a.shape, route, a.data_ptr() % 16 == 0, b[1:].data_ptr() % ALIGNED == 0)
    if key not in GRIDS:
        GRIDS[key] = lambda named: (triton.cdiv(functools.reduce(mul, a.shape), named["BLOCK"]),)
    launch.last = key
    out = torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=a.device)
    side = SIDE[0] if SIDE else torch.cuda.Stream()
    ready = torch.cuda.Event()
    ready.record(torch.cuda.current_stream())
    side.wait_event(ready)
    with torch.cuda.stream(side):
        getattr(ROUTED, "softmax")(a, out)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    first[GRIDS[key]](a, out, math.prod(a.shape), EVEN=True)
    second[(1,)](out, out, BLOCK=int(np.prod([4, 4])))
    return out.view(a.shape).transpose(0, 1).unsqueeze(0)


@torch.fx.wrap
def replacement(a, b, route):
    if route == "helper":
        return getattr(importlib.import_module("shared_kernel"), "launch")(a, b)
    return launch(a, b, route)


def replacement_func():
    return replacement
"""


def test_honest_habits_break_no_rule() -> None:
    assert found(HABITS, cap=1) == ()


IN_INDUCTORS_WORDS = """\
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
import torch._inductor.runtime.triton_helpers as helpers
from torch._inductor.runtime.triton_helpers import promote_to_tensor


@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    a = triton_helpers.maximum(0, libdevice.tanh(tl.load(x)) + tl_math.exp(1.0))
    tl.store(out, helpers.libdevice.rsqrt(triton_helpers.max2(promote_to_tensor(a), 1)) + triton_helpers.math.abs(a))
"""


def test_functions_for_kernels_may_come_from_inductors_helpers() -> None:
    top = f"import triton\nimport triton.language as tl\n{IN_INDUCTORS_WORDS}"
    assert in_frame("kernel[(1,)](a, a, BLOCK=1)", top) == set()
    assert in_frame("kernel[(1,)](a, a, BLOCK=1)", top, passnet=True) == {TORCH_CALL}


ALLOCATES = "from torch._C._dynamo.guards import _empty_strided_cuda"


def test_memory_may_be_allocated_as_inductors_code_does() -> None:
    assert in_frame("_empty_strided_cuda((2, 3), (3, 1), a.dtype)", ALLOCATES) == set()
    assert (
        in_frame("functools.partial(_empty_strided_cuda, (2,), (1,), a.dtype)()", f"import functools\n{ALLOCATES}")
        == set()
    )


def test_arguments_may_be_compared_as_torch_compile_does() -> None:
    top = "from torch._C._dynamo.guards import TensorGuards"
    assert in_frame("TensorGuards(a, dynamic_dims_sizes=None, dynamic_dims_strides=None).check(a)", top) == set()
    others = "from torch._C._dynamo.guards import _reinterpret_tensor"
    assert in_frame("_reinterpret_tensor(a, (1,), (1,), 0)", others) != set()


@pytest.mark.parametrize(
    "body",
    [
        "th.triton.runtime.driver",
        "th.warnings.sys",
        "th.libdevice.core.builtin",
        "th.get_backend_options()",
        "f(th)",
        "other = th",
        "torch._inductor.compile(a, b)",
        "torch._inductor.runtime.triton_heuristics.pointwise()",
        "torch._inductor.graph.GraphLowering",
        "getattr(th, 'tri' + 'ton')",
    ],
)
def test_nothing_else_of_inductor_can_be_reached(body: str) -> None:
    assert in_frame(body, "from torch._inductor.runtime import triton_helpers as th") & {TORCH_CALL, DYNAMIC_CODE}


def test_passnets_rule_refuses_streams() -> None:
    bundle = Bundle((PassFile("Pass.py", HABITS),), (PassFile("shared_kernel.py", SHARED),))
    assert {each.rule for each in findings(bundle, passnet=True)} == {TORCH_CALL}
    assert "torch.cuda.Stream" in " ".join(each.message for each in findings(bundle, passnet=True))


STRICT_ONLY = [
    ("a @ b", "", TORCH_CALL),
    ("a @= b", "", TORCH_CALL),
    ("return a.softmax(-1)", "", TORCH_CALL),
    ("a.view(-1).matmul(b)", "", TORCH_CALL),
    ("soft = a.softmax; soft(-1)", "", TORCH_CALL),
    ("getattr(a, 'softmax')(-1)", "", TORCH_CALL),
    ("a.add_(b)", "", TORCH_CALL),
    ("a.addmm(a, b)", "", TORCH_CALL),
    ("import operator; operator.matmul(a, b)", "", TORCH_CALL),
    ("matmul(a, b)", "from operator import matmul", TORCH_CALL),
    ("import triton.testing as other; other.torch.relu(a)", "", TORCH_CALL),
    ("import operator; operator.methodcaller('softmax', -1)(a)", "", DYNAMIC_CODE),
    ("attrgetter('relu')(a)()", "from operator import attrgetter", DYNAMIC_CODE),
    ("import os; getattr(os, 'sys' + 'tem')('true')", "", DYNAMIC_CODE),
    ("import sys; sys._getframe(1).f_locals", "", DYNAMIC_CODE),
    ("f.__globals__['torch'].relu(a)", "", DYNAMIC_CODE),
    ("getattr(f, '__globals__')", "", DYNAMIC_CODE),
    ("().__class__.__bases__[0].__subclasses__()", "", DYNAMIC_CODE),
    ("__builtins__['ev' + 'al']('1')", "", DYNAMIC_CODE),
    ("import types; types.FunctionType(a, {})", "", DYNAMIC_CODE),
    ("import logging; logging.__dict__['sys']", "", DYNAMIC_CODE),
    ("type(a).__dict__['relu'](a)", "", DYNAMIC_CODE),
    ("next(iter([f])).sys.path", "", DYNAMIC_CODE),
    ("import functools, os; functools.reduce(getattr, ('sys', 'modules'), os)", "", DYNAMIC_CODE),
    ("g = getattr", "", DYNAMIC_CODE),
    ("list(map(vars, [a]))", "", DYNAMIC_CODE),
    ("type(a).__add__(a, b)", "", TORCH_CALL),
    ("import inspect; inspect.stack()", "", DYNAMIC_CODE),
    ("log.findCaller(True)", "import logging\nlog = logging.getLogger('pass')", DYNAMIC_CODE),
    ("import warnings; warnings.warn('slow', stacklevel=5)", "", DYNAMIC_CODE),
    ("import logging; logging.info('here', stack_info=True)", "", DYNAMIC_CODE),
    ("import inspect", "", FORBIDDEN_IMPORT),
    ("import contextvars", "", FORBIDDEN_IMPORT),
    ("from linecache import cache", "", FORBIDDEN_IMPORT),
    ("import os; os.system('true')", "", DYNAMIC_CODE),
    ("import triton; triton.runtime.driver.active.utils.load_binary('k', a, 0, 0)", "", DYNAMIC_CODE),
    ("torch.classes.load_library('/tmp/x.so')", "", DYNAMIC_CODE),
    (f"blob = {bytes(600)!r}", "", DYNAMIC_CODE),
    (f"blob = {'QUJD' * 600!r}", "", DYNAMIC_CODE),
    ("torch.cuda.synchronize = print", "", PATCHING),
    ("torch.Tensor.__add__ = f", "", PATCHING),
    ("import time; time.perf_counter = f", "", PATCHING),
    ("clock.perf_counter = f", "import time as clock", PATCHING),
    ("import triton; triton.cdiv, x = f, 1", "", PATCHING),
    ("del torch.relu", "", PATCHING),
    ("setattr(torch.cuda, 'synchronize', f)", "", PATCHING),
    ("type.__setattr__(torch.Tensor, 'equal', f)", "", PATCHING),
    ("torch.backends.cuda.matmul.allow_tf32 = True", "", PATCHING),
    ("import os; os.environ['TRITON_INTERPRET'] = '0'", "", PATCHING),
    ("import os; os.environ.update(a=1)", "", PATCHING),
    ("import os; os.putenv('A', 'b')", "", PATCHING),
    ("import time\n    for time.perf_counter in [f]: pass", "", PATCHING),
    ("known = {a.data_ptr(): b}", "", ADDRESS),
    ("a.data_ptr() % 4096", "", ADDRESS),
    ("a.data_ptr() % b", "", ADDRESS),
    ("16 % a.data_ptr()", "", ADDRESS),
    ("where = a.data_ptr; where()", "", ADDRESS),
    ("getattr(a, 'data_ptr')()", "", ADDRESS),
    ("a.untyped_storage()", "", ADDRESS),
    ("a.__cuda_array_interface__['data']", "", ADDRESS),
    ("known = {id(a): b}", "", ADDRESS),
    ("list(map(id, [a]))", "", ADDRESS),
    ("import sys; sys.getrefcount(a)", "", DYNAMIC_CODE),
    ("import weakref", "", FORBIDDEN_IMPORT),
    *(
        ("pass", top, FORBIDDEN_IMPORT)
        for top in (
            "import ctypes",
            "from ctypes import cdll",
            "import cffi",
            "import subprocess",
            "import socket",
            "from multiprocessing import shared_memory",
            "import threading",
            "from concurrent.futures import ThreadPoolExecutor",
            "import gc",
            "import builtins",
            "import pickle",
            "import cupy",
            "from flash_attn import flash_attn_func",
            "import passnet_core.judge.timing",
            "from torch.utils import cpp_extension",
            "import torch.utils.cpp_extension as native",
            "from torch._C import _nn",
            "from torch._C._dynamo import guards",
            "from torch._C._dynamo.guards import GuardManager",
            "from importlib import util",
            "import torch._inductor",
            "from torch._inductor import compile",
            "from torch._inductor.runtime import triton_helpers, triton_heuristics",
            "from torch._inductor.runtime.triton_helpers import triton",
            "from torch._inductor.runtime.triton_helpers import warnings",
            "from torch._inductor.runtime.triton_helpers import set_driver_to_gpu",
            "from torch._inductor.utils import do_bench",
        )
    ),
]


@pytest.mark.parametrize(
    ("body", "top", "rule"), STRICT_ONLY, ids=[f"{body}|{top}"[:60] for body, top, _ in STRICT_ONLY]
)
def test_the_strict_profile_refuses(body: str, top: str, rule: str) -> None:
    assert rule in in_frame(body, top)


@pytest.mark.parametrize(
    ("body", "rule", "column", "said"),
    [
        ("b = a @ b", TORCH_CALL, 9, "The operator @"),
        ("b = 1 + a.softmax(-1)", TORCH_CALL, 13, "The method softmax"),
        ("torch.cuda.synchronize = print", PATCHING, 5, "torch.cuda is changed"),
        ("x = 1; import ctypes", FORBIDDEN_IMPORT, 12, "ctypes is imported, but a pass must not use native code"),
        ("x = f.__globals__", DYNAMIC_CODE, 9, "__globals__"),
    ],
)
def test_a_strict_finding_has_a_line_and_a_column(body: str, rule: str, column: int, said: str) -> None:
    (finding,) = found(FRAME.format(top="", body=body))
    assert (finding.line, finding.column, finding.rule, finding.fatal) == (12, column, rule, True)
    assert said in finding.message
    assert finding.remedy


def test_the_passnet_profile_applies_only_passnets_rule() -> None:
    for body, top, rule in STRICT_ONLY:
        if "torch" not in body + top and "eval" not in body:
            assert in_frame(body, top, passnet=True) == set(), (body, top, rule)
    assert in_frame("torch.cuda.Stream()", passnet=True) == {TORCH_CALL}
    assert in_frame("torch.cuda.Stream()") == set()


def test_methods_of_the_bundles_own_objects_may_be_named_like_a_tensors() -> None:
    helper = "import torch\nclass Kernels:\n    def softmax(self, a): return a\n"
    assert in_frame("shared_kernel.Kernels().softmax(a)", "import shared_kernel", helper) == set()


KERNELS = """\
import math
from collections import namedtuple
from enum import Enum
from typing import NamedTuple

import numpy as np
import triton
import triton.language as tl
from triton import language
from triton.language import float32, load
from triton.language.extra.cuda import libdevice

try:
    from triton.language.extra.libdevice import tanh
except ImportError:
    tanh = tl.math.tanh

Shape = namedtuple("Shape", "rows, columns")
HALF = tl.constexpr(0.5)
LOG2_E: tl.constexpr = math.log2(math.e)


class Sizes(NamedTuple):
    count: int


class Kind(Enum):
    RELU = 1


def host(x):
    return np.sort(x)


@triton.constexpr_function
def digits(kind, count):
    names = {{"fp16": 11}}
    return int(math.log2(count)) + names.get(str(kind.name), 24) if isinstance(count, int) else 0


@triton.jit
def activated(x, kind: tl.constexpr):
    return tl.maximum(x, 0.0) if kind == Kind.RELU else x


@triton.jit
def shaped(
    x_ptr, out_ptr, descriptor, sizes, shape, n, BLOCK: tl.constexpr, ACT: tl.constexpr = None, DEFAULT=HALF
):
    at = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x: tl.tensor = load(x_ptr + at, mask=at < sizes.count, other=0.0).to(float32)
    if ACT is not None and x.dtype == tl.float32:
        x = activated(tanh(x) * LOG2_E, Kind.RELU)
    if x_ptr.dtype.element_ty.is_floating() and x.type.scalar.primitive_bitwidth == 32:
        x = descriptor.load([0, 0]).T.trans(1, 0).reshape(BLOCK) + libdevice.rsqrt(x) + language.exp(x)
    for i in range(int(n), max(shape.rows, 1), digits(tl.float16, BLOCK)):
        tl.static_assert(BLOCK.value > 0, f"of {{BLOCK}}")
        tl.store(out_ptr + i, tl.where(x > 0, x.sum(0), tl.math.exp2(x) * float("inf")).cast(out_ptr.dtype.element_ty))
    {body}
"""


def of_kernels(body: str = "pass", top: str = "") -> list[Finding]:
    return [each for each in found(f"{KERNELS.format(body=body)}\n{top}\n{HONEST}") if each.rule == KERNEL_LANGUAGE]


def test_kernels_may_use_all_of_tritons_language() -> None:
    assert of_kernels() == []


def test_kernels_in_gluon_are_left_to_a_gpu() -> None:
    top = """from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
@gluon.jit
def in_gluon(x, layout: ttgl.constexpr):
    ttgl.store(x + ttgl.arange(0, 8, layout.parent), ttgl.BlockedLayout([1], [32], [4], [0]).order)
"""
    assert of_kernels(top=top) == []


@pytest.mark.parametrize(
    "body",
    [
        "x.handle.data.sort()",
        "y = x.__class__",
        "host(x)",
        "y = np.sort(x)",
        "y = TensorHandle(x)",
        "y = hasattr(BLOCK, 'value')",
        "y = isinstance(BLOCK, tl.constexpr)",
        "y = type(x)",
        "y = triton.knobs.runtime.interpret",
        "y = tl.core.knobs.runtime.interpret",
        "y = activated.fn(x)",
        "y = tl.range is tl.static_range",
        "y = x is at",
        "y = tl.range == tl.static_range",
        "y = abs(x)",
    ],
)
def test_kernels_may_use_nothing_else(body: str) -> None:
    (finding, *_) = of_kernels(body)
    line = KERNELS.format(body=body).splitlines().index(f"    {body}") + 1
    assert (finding.line, finding.fatal) == (line, True)
    assert finding.message.endswith("which is written in Triton.")


@pytest.mark.parametrize(
    "top",
    [
        "@triton.jit\ndef k(x, FLAG: tl.constexpr = triton.knobs.runtime.interpret):\n    pass",
        "@triton.constexpr_function\ndef k(x):\n    return x.handle",
        "@triton.constexpr_function\ndef k(x):\n    return f'{tl.load}'",
        "@triton.constexpr_function\ndef k(x):\n    return f'{shaped}'",
        "@triton.constexpr_function\ndef k(x):\n    return np.sort(x)",
    ],
)
def test_constants_of_a_kernel_must_not_tell_who_runs_it(top: str) -> None:
    assert of_kernels(top=top)


def test_a_kernel_is_checked_though_another_takes_its_name() -> None:
    twice = "@triton.jit\ndef twice(x_ptr):\n    {body}\n"
    top = twice.format(body="print(x_ptr.handle)") + "first = twice\n\n" + twice.format(body="pass")
    assert [each.message for each in of_kernels(top=top)]
