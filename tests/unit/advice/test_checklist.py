"""What the line under the editor says of each part of a pass."""

from dataclasses import replace

import pytest

from passnet_core.advice.checklist import CheckedPart, Part, PartState, checklist
from passnet_core.records import Bundle, Finding, PassFile, Verdict
from tests.contract.made import job, outcome
from tests.example_playground import PASS

BUNDLE = Bundle((PassFile("add_relu.py", PASS),))
LINES = PASS.split("\n")


def states(found: tuple[CheckedPart, ...]) -> list[str]:
    return [each.state.value for each in found]


def at(text: str) -> Finding:
    line = next(number for number, each in enumerate(LINES, 1) if text in each)
    return Finding("add_relu.py", line, 1, "a rule", "It is wrong.", "")


def test_a_part_is_done_once_the_judge_has_shown_it() -> None:
    matched, right = outcome(job(), Verdict.MATCHED), outcome(job(), Verdict.VALUES_ONLY)
    assert states(checklist(BUNDLE, (), None)) == ["open"] * 4
    assert states(checklist(BUNDLE, (), matched)) == ["done", "done", "open", "open"]
    assert states(checklist(BUNDLE, (), right)) == ["done"] * 4


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("return torch.nn.functional.relu", Part.PATTERN),
        ("return (a, b)", Part.ARGUMENTS),
        ("@triton.jit", Part.KERNEL),
        ("inside = at < count", Part.KERNEL),
        ("def replacement_func", Part.RETURNS),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, part: Part) -> None:
    finding = at(text)
    found = checklist(BUNDLE, [finding], outcome(job(), Verdict.MATCHED))
    wrong = [each for each in found if each.state is PartState.WRONG]
    assert wrong == [CheckedPart(part, PartState.WRONG, "add_relu.py", finding.line)]


def test_what_is_unfinished_is_open_and_not_wrong() -> None:
    unfinished = Bundle((PassFile("add_relu.py", PASS + "\ndef pattern(:"),))
    assert states(checklist(unfinished, [replace(at("@triton"), line=99)], None)) == ["open"] * 4
    assert states(checklist(Bundle(()), (), None)) == ["open"] * 4


def test_code_that_is_nested_beyond_all_measure_is_read_or_left() -> None:
    nested = "@" + "-" * 2000 + "x\ndef f():\n    pass\n"
    for code in (nested, "x = " + "(" * 5000 + ")" * 5000 + "\n"):
        assert states(checklist(Bundle((PassFile("add_relu.py", code),)), (), None)) == ["open"] * 4
