"""Bundles with the launcher: what launches, and what stays as it is."""

from pathlib import Path

import pytest

from passnet_core.bundles.launcher import NAME, launcher, with_launcher
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, PassFile

HEAD = '"""Adds."""\n\nimport torch\nimport triton\nfrom shared import other_kernel\n'
PASS = """

def pattern(x):
    return torch.relu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, out_ptr):
    pass


@torch.fx.wrap
def relu(x):
    out, text = torch.empty_like(x), "größer"; relu_kernel[(1,)](x, out)
    tuned[(1,)](x, out)
    launch = relu_kernel
    other_kernel[
        (1,)
    ](x, out)
    return out


def replacement_func():
    return relu
"""
SHARED = "import triton\n\n\n@triton.jit\ndef other_kernel(x_ptr, out_ptr):\n    pass\n"
BUNDLE = Bundle((PassFile("relu.py", HEAD + PASS),), (PassFile("shared.py", SHARED),), "somebody")


def test_launches_go_through_the_launcher_and_nothing_else_changes() -> None:
    found = with_launcher(BUNDLE)
    changed = PASS.replace("relu_kernel[(1,)](", "lean(relu_kernel)[(1,)](").replace(
        "other_kernel[", "lean(other_kernel)["
    )
    assert found.passes[0].code == HEAD + "from launching import lean\n" + changed
    assert found.helpers == (*BUNDLE.helpers, launcher())
    assert found.author == "somebody"


def test_a_bundle_that_has_such_a_file_keeps_it() -> None:
    with pytest.raises(BadInput, match=NAME):
        with_launcher(Bundle(BUNDLE.passes, (PassFile(NAME, ""),)))


def test_the_launcher_breaks_no_rule() -> None:
    kernel = PASS.replace("    tuned[(1,)](x, out)\n    launch = relu_kernel\n", "")
    assert findings(with_launcher(Bundle((PassFile("relu.py", HEAD + kernel),), BUNDLE.helpers))) == ()


def test_the_judge_is_tried_with_the_launcher_of_today() -> None:
    honest = Path(__file__).resolve().parents[1] / "adversarial" / "honest" / "lean_launcher" / NAME
    assert honest.read_text(encoding="utf-8") == launcher().code
