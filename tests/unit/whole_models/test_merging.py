"""Several bundles become one: equal files are shared, and others of the same name are told apart."""

import ast

import pytest

from passnet_core.records import Bundle, PassFile
from passnet_core.whole_models.merging import imported_names, merged, with_passes


def file(name: str, code: str = "") -> PassFile:
    return PassFile(f"{name}.py", code)


def test_a_part_of_a_bundle_has_the_helpers_that_it_needs_and_no_other() -> None:
    passes = (file("first", "from pass_dir.gate import swiglu\n"), file("second", "import torch\nimport planes as p\n"))
    helpers = (file("gate", "import shared\n"), file("shared"), file("planes"), file("unused"))
    bundle = Bundle(passes, helpers, author="reference")
    part = with_passes(bundle, ["first"])
    assert [each.name for each in part.passes] == ["first.py"]
    assert [each.name for each in part.helpers] == ["gate.py", "shared.py"]
    assert part.author == "reference"
    assert [each.name for each in with_passes(bundle, ["second"]).helpers] == ["planes.py"]


def test_equal_helpers_are_shared_and_others_renamed() -> None:
    one = Bundle((file("norm", "from gate import run\n"),), (file("gate", "A = 1\n"), file("shared", "L = 1\n")))
    two = Bundle((file("norm", "from gate import run\n"),), (file("gate", "A = 2\n"), file("shared", "L = 1\n")))
    both = merged([one, two], author="rules")
    assert [each.name for each in both.passes] == ["norm.py", "norm_1.py"]
    assert [each.code for each in both.passes] == ["from gate import run\n", "from gate_1 import run\n"]
    assert {each.name: each.code for each in both.helpers} == {
        "gate.py": "A = 1\n",
        "shared.py": "L = 1\n",
        "gate_1.py": "A = 2\n",
    }
    assert both.author == "rules"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("from m import run  # m\n", "from m_1 import run  # m\n"),
        ("from pass_dir.m import run\n", "from pass_dir.m_1 import run\n"),
        ("from pass_dir import m\nm.run()\n", "from pass_dir import m_1 as m\nm.run()\n"),
        ("from pass_dir import other, m as n\n", "from pass_dir import other, m_1 as n\n"),
        ("import m\nm.run()\n", "import m_1 as m\nm.run()\n"),
        ("import torch, m as n\n", "import torch, m_1 as n\n"),
        ("def f():\n    é = 1; from m import run\n", "def f():\n    é = 1; from m_1 import run\n"),
        ("import torch\nfrom math import m\n", "import torch\nfrom math import m\n"),
    ],
)
def test_who_imports_a_renamed_helper_gets_it(code: str, wanted: str) -> None:
    first = Bundle((file("first", "import m\n"),), (file("m", "A = 1\n"),))
    second = Bundle((file("second", code),), (file("m", "A = 2\n"),))
    (_, found) = merged([first, second]).passes
    assert found.code == wanted
    ast.parse(found.code)


def test_a_renamed_helper_of_a_helper_reaches_the_pass() -> None:
    first = Bundle((file("first", "import low\n"),), (file("low", "A = 1\n"),))
    second = Bundle((file("second", "import high\n"),), (file("high", "from low import A\n"), file("low", "A = 2\n")))
    both = merged([first, second])
    assert {each.name: each.code for each in both.helpers}["high.py"] == "from low_1 import A\n"


def test_code_that_cannot_be_read_imports_nothing() -> None:
    assert imported_names("def f(:\n") == set()
    assert imported_names("import os.path\nfrom pass_dir import a, b\nfrom pass_dir.c import d\n") == {
        "os",
        "a",
        "b",
        "c",
    }
