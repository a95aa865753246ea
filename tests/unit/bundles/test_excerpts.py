"""The lines of a pass file that a reader looks for first."""

from passnet_core.bundles.excerpts import pattern_and_kernels
from tests.example_playground import PASS


def test_an_excerpt_has_the_pattern_and_the_kernels_with_their_decorators() -> None:
    found = pattern_and_kernels(PASS)
    assert found.text.startswith("def pattern(a, b):\n")
    assert "\n\n\n@triton.jit\ndef add_relu_kernel" in found.text
    assert "def replacement" not in found.text
    assert (found.lines, found.kernels) == (8, 1)
    assert found.lines + found.hidden == sum(bool(line) for line in PASS.splitlines())


def test_of_code_that_is_no_pass_nothing_is_hidden() -> None:
    for code in ("x = 1\n", "def pattern(:\n"):
        found = pattern_and_kernels(code)
        assert (found.text, found.hidden, found.kernels) == (code, 0, 0)
