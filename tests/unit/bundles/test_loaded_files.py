"""Only passes and what they import are looked at: files left over in a bundle's folder are ignored, and named."""

import pytest

from passnet_core.bundles.static_rules.findings import admitted
from passnet_core.bundles.static_rules.imports import never_loaded
from passnet_core.records import Bundle, PassFile

PASS = """\
import torch
{line}

def pattern(a):
    return torch.relu(a)

def replacement_args(a):
    return (a,)

@torch.fx.wrap
def f(a):
    return torch.empty_like(a)

def replacement_func():
    return f
"""
LEFT_OVER = PassFile("LeftOver.py", "import os\n\ndef pattern(a):\n    return os.system(a.exp())\n\ndef (")
SHARED = PassFile("shared.py", "x = 1\n")


def bundle(line: str = "", *helpers: PassFile) -> Bundle:
    return Bundle((PassFile("Pass.py", PASS.format(line=line)),), helpers)


@pytest.mark.parametrize(
    "line",
    [
        "import shared",
        "import pass_dir.shared as s",
        "from shared import x",
        "from pass_dir.shared import x",
        "from pass_dir import shared",
        "from . import shared",
        "from .shared import x",
        "def g():\n    if g: from shared import x",
        "import importlib; importlib.import_module('shared')",
        "from importlib import import_module; import_module('pass_dir.shared')",
        "import importlib.util as u; u.spec_from_file_location('s', u.os.path.join('.', 'shared.py'))",
    ],
)
def test_an_imported_helper_is_loaded(line: str) -> None:
    assert never_loaded(bundle(line, SHARED)) == ()


@pytest.mark.parametrize(
    "line", ["", "shared = 'shared'", "import shared_kernel", "import os.shared", "print('shared')"]
)
def test_a_helper_that_is_only_mentioned_is_not_loaded(line: str) -> None:
    assert never_loaded(bundle(line, SHARED)) == (SHARED,)


def test_helpers_of_helpers_are_loaded_also_in_a_circle() -> None:
    first, second = PassFile("first.py", "import second"), PassFile("second.py", "import first, shared")
    assert never_loaded(bundle("import first", first, second, SHARED, LEFT_OVER)) == (LEFT_OVER,)
    assert never_loaded(bundle("", first, second)) == (first, second)


@pytest.mark.parametrize("passnet", [False, True], ids=["strict", "passnet"])
def test_a_file_left_over_breaks_no_rule_and_is_named(passnet: bool) -> None:
    odd = PassFile("Left over (1).py", "")
    found = admitted(bundle("import shared", SHARED, LEFT_OVER, odd), passnet=passnet)
    assert found.findings == ()
    assert found.left_out == (
        "LeftOver.py is ignored: it is not a pass, and no loaded file imports it.",
        "Left over (1).py is ignored: it is not a pass, and no loaded file imports it.",
    )


def test_the_strict_profile_loads_no_file_that_it_has_not_checked() -> None:
    assert admitted(bundle("import shared", SHARED, LEFT_OVER)).bundle == bundle("import shared", SHARED)
