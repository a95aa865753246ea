"""The lines of a pass file that a reader looks for first."""

from passnet_core.leaderboard.excerpts import kernels_of
from tests.example_playground import PASS


def test_an_excerpt_has_the_kernels_with_their_decorators() -> None:
    found = kernels_of(PASS)
    assert found.text.startswith("@triton.jit\ndef add_relu_kernel")
    assert "def pattern" not in found.text
    assert (found.lines, found.body, found.kernels) == (8, 4, 1)
    assert _filled(found.text) + found.hidden == _filled(PASS)


def test_of_code_that_is_no_pass_nothing_is_hidden() -> None:
    for code in ("x = 1\n", "def pattern(:\n"):
        found = kernels_of(code)
        assert (found.text, found.hidden, found.kernels) == (code, 0, 0)


def _filled(text: str) -> int:
    return sum(bool(line) for line in text.splitlines())
