"""Usual mistakes of somebody's first pass: the line that is named, and what to write instead."""

from pathlib import Path

import pytest

from passnet_core.bundles.reading import read_bundle
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.bundles.static_rules.rules import ARGUMENTS, DEVICE, MISTAKES, REPLACEMENT, RETURN, SIGNATURE, WRAP
from passnet_core.records import Bundle, Finding, PassFile
from passnet_core.settings import ROOT

TEMPLATE = (ROOT / "assets/templates/1_pointwise.py").read_text()
NEW = MISTAKES | {DEVICE, WRAP, SIGNATURE}
HELPER = "import torch\n\n\n@torch.fx.wrap\ndef relu(x, more=1):\n    return torch.zeros_like(x)\n"


def found(*changes: tuple[str, str], helper: str = "", passnet: bool = False) -> list[Finding]:
    """The findings on the template after these changes, each of which it must contain."""
    code = TEMPLATE
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    helpers = (PassFile("shared.py", helper),) if helper else ()
    return list(findings(Bundle((PassFile("Relu.py", code),), helpers), passnet=passnet))


MATCH = "return torch.nn.functional.relu(x)"
NAMED, ARGS, EMPTY = "    return relu\n", "return (x,)", "torch.empty_like(x)"
CASES = {
    "pattern without return": ((MATCH, "y = torch.nn.functional.relu(x)"), RETURN, 9, "pattern returns nothing."),
    "arguments without return": ((ARGS, "(x,)"), RETURN, 13, "as a tuple: return (x,)."),
    "arguments return None": ((ARGS, "return None"), RETURN, 13, "replacement_args returns nothing."),
    "replacement not returned": ((NAMED, "    relu\n"), REPLACEMENT, 34, "instead of calling it: return relu."),
    "replacement_func returns None": ((NAMED, "    return None\n"), REPLACEMENT, 34, "return relu."),
    "replacement called": ((NAMED, "    return relu()\n"), REPLACEMENT, 34, "calls relu instead of returning it."),
    "other parameter names": (("def replacement_args(x)", "def replacement_args(y)"), SIGNATURE, 12, "same names"),
    "too many arguments": ((ARGS, "return (x, 3)"), ARGUMENTS, 13, "returns 2 arguments, but relu takes (x)."),
    "one argument for two": (("def relu(x):", "def relu(x, y):"), ARGUMENTS, 13, "but relu takes (x, y)."),
    "not wrapped": (("@torch.fx.wrap\n", ""), WRAP, 24, "Write @torch.fx.wrap on the line above def relu."),
    "allocated on the CPU": ((EMPTY, "torch.empty(x.shape)"), DEVICE, 27, "device=x.device"),
    "the CPU by its name": ((EMPTY, "torch.zeros(4, device='cpu')"), DEVICE, 27, "torch.zeros_like(x)"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_named_with_its_line_and_its_remedy(name: str) -> None:
    change, rule, line, said = CASES[name]
    (finding,) = found(change)
    assert (finding.file, finding.line, finding.rule) == ("Relu.py", line, rule)
    assert said in f"{finding.message} {finding.remedy}"
    assert not finding.fatal, "what comes of it is a question of the verdict"


IMPORTED = "from shared import relu\n\n\ndef replacement_func():"


def test_a_name_that_a_kernel_does_not_have_is_said_to_be_undefined() -> None:
    (finding,) = found(("0.0, x)", "0.0, xx)"))
    assert (finding.line, finding.fatal) == (21, True)
    assert finding.message.startswith("xx, which is not defined, is used in relu_kernel")
    assert "correct its spelling" in finding.remedy


@pytest.mark.parametrize(
    ("old", "new", "line"), [("def pattern(x):", "def pattern(x)", 8), ("[(triton", "[((triton", 29)]
)
def test_python_that_cannot_be_parsed_is_placed(old: str, new: str, line: int) -> None:
    (finding,) = found((old, new))
    assert (finding.rule, finding.line, finding.fatal) == ("syntax", line, True)


HONEST = {
    "a function that makes the replacement": ((NAMED, "    return made()\n\n\ndef made():\n    return relu\n"),),
    "one that takes anything": (("def relu(x):", "def relu(x, *rest):"), (ARGS, "return (x, 1, 2)")),
    "one with defaults": (("def relu(x):", "def relu(x, more=1):"),),
    "arguments by a name": ((ARGS, "args = (x,)\n    return args"),),
    "unpacked arguments": ((ARGS, "return (*[x],)"),),
    "a single argument": ((ARGS, "return x"),),
    "wrapped by name": (("@torch.fx.wrap\ndef relu", "torch.fx.wrap('relu')\n\n\ndef relu"),),
    "a device": ((EMPTY, "torch.empty(x.shape, device=x.device)"),),
    "unpacked keywords": ((EMPTY, "torch.empty(x.shape, **{'device': x.device})"),),
    "an inner function": ((MATCH, f"def inner():\n        return 1\n    {MATCH}"),),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_may_be_right_is_no_mistake(name: str) -> None:
    assert not [each for each in found(*HONEST[name]) if each.rule in NEW]


def test_mistakes_with_a_replacement_of_a_helper_are_found() -> None:
    changes = (("def replacement_func():", IMPORTED), ("@torch.fx.wrap\ndef relu(x)", "def other(x)"))
    assert not [each for each in found(*changes, helper=HELPER) if each.rule in NEW]
    unwrapped = found(*changes, helper=HELPER.replace("@torch.fx.wrap\n", ""))
    assert [(each.file, each.line, each.rule) for each in unwrapped] == [("shared.py", 4, WRAP)]
    (finding,) = found(*changes, (ARGS, "return (x, 1, 2)"), helper=HELPER)
    assert finding.rule == ARGUMENTS


def test_a_mistake_leaves_no_pass_out_under_passnets_rules() -> None:
    (finding,) = found((NAMED, "    relu\n"), passnet=True)
    assert finding.rule == REPLACEMENT


@pytest.mark.parametrize("folder", sorted((ROOT / "data/bundles").iterdir())[::8], ids=lambda each: str(each.name))
def test_reference_bundles_make_no_mistake(folder: Path) -> None:
    for order in folder.rglob("sorted_output_pass_rule_names.json"):
        assert not [each for each in findings(read_bundle(order.parent)) if each.rule in NEW]
