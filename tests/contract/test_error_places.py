"""What somebody is told of an exception in their pass: the line of their own file, the message, and what to do."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from passnet_core.bundles import launcher
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.fx.loading import BundleLine
from passnet_core.judge.stages import compilation
from passnet_core.judge.worker import error_places
from passnet_core.records import Outcome, Stage, Verdict
from tests.contract.judging import RIGHT, bundle, job, judged

pytestmark = pytest.mark.settled


class CompilationError(Exception):
    """As of Triton: it has the source of the kernel and the node at which its compiler stopped."""

    def __init__(self, src: str, line: int, error_message: str | None = None) -> None:
        super().__init__(f"at {line}:4:\n{src}")
        self.src, self.node, self.error_message = src, type("Node", (), {"lineno": line}), error_message


def raised(folder: Path, code: str, call: str, **given: object) -> BaseException:
    """The exception of a call of this file of a bundle."""
    folder.mkdir(exist_ok=True)
    file = folder / "mine.py"
    file.write_text(code)
    names: dict[str, object] = dict(given)
    try:
        exec(compile(code, str(file), "exec"), names)
        names[call]()  # type: ignore[operator]
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_the_trace_has_the_persons_frames_and_the_exception(tmp_path: Path) -> None:
    error = raised(
        tmp_path, "import json\n\ndef load():\n    return inner()\n\ndef inner():\n    json.loads('{')\n", "load"
    )
    lines = error_places.trace(error, tmp_path).splitlines()
    assert lines == [
        '  File "pass_dir/mine.py", line 4, in load', "    return inner()",
        '  File "pass_dir/mine.py", line 7, in inner', "    json.loads('{')",
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ]  # fmt: skip


def test_a_helper_that_a_bundle_carries_is_not_at_fault() -> None:
    def line(file: str, number: int) -> BundleLine:
        return BundleLine(file, number, "f", "")

    called, inside = line("mine.py", 72), line("launching.py", 169)
    assert error_places.at_fault([called, inside]) == called
    assert error_places.at_fault([inside]) == inside
    assert error_places.at_fault([inside, called]) == called
    assert launcher.NAME == error_places.LAUNCHER


def test_a_compilers_error_is_placed_in_the_kernel(tmp_path: Path) -> None:
    kernel = "def kernel(x):\n    y = x\n    z = tl.arange(0, n)\n"
    error = raised(
        tmp_path, f"import json\n\n{kernel}\ndef launch():\n    fail()\n", "launch",
        fail=lambda: (_ for _ in ()).throw(CompilationError(kernel, 3, "ValueError('must be a constexpr')")),
    )  # fmt: skip
    place = error_places.places(error, tmp_path)[-1]
    assert (place.file, place.line, place.function) == ("mine.py", 5, "kernel")
    assert error_places.message(error) == "ValueError: must be a constexpr"
    assert "BLOCK: tl.constexpr" in error_places.with_remedy(error_places.message(error))


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?)", "device=x.device"),
        ("RuntimeError: Expected all tensors to be on the same device, but found two", "device=x.device"),
        ("ValueError: arange's arguments must be of type tl.constexpr", "BLOCK: tl.constexpr"),
        ("NameError: name 'z' is not defined", "correct its spelling"),
        ("TypeError: f() takes 1 positional argument but 2 were given", "exactly the arguments"),
    ],
)
def test_a_message_gets_a_remedy(said: str, remedy: str) -> None:
    told = error_places.with_remedy(f"{said}\nmore")
    first, rest = told.split("\n")
    assert first.startswith(said)
    assert remedy in first
    assert rest == "more"


def test_a_message_that_says_nothing_known_stays_as_it_is() -> None:
    assert error_places.with_remedy("ValueError: odd") == "ValueError: odd"


def test_no_path_of_the_machine_is_told(tmp_path: Path) -> None:
    installed = "/usr/lib/python3.11/site-packages/triton/x.py (/opt/python3.11/re.py)"
    text = f"in {tmp_path}/bundle-12/pass_dir/a.py and {installed}"
    assert error_places.without_paths(text, tmp_path) == "in pass_dir/a.py and triton/x.py (re.py)"


def test_a_refusal_of_the_compiler_becomes_a_finding_on_its_line() -> None:
    said = "add_relu_kernel, pass_0.py line 17, does not compile for a GPU: ValueError: no."
    finding = compilation._finding(said, bundle(RIGHT))
    assert finding is not None
    assert (finding.file, finding.line, finding.fatal) == ("pass_0.py", 17, False)
    assert finding.message == "add_relu_kernel does not compile for a GPU: ValueError: no."
    for elsewhere in (said.replace("17", "1700"), said.replace("pass_0", "other"), "large needs 9 bytes."):
        assert compilation._finding(elsewhere, bundle(RIGHT)) is None


def judge(backend: LocalBackend, old: str, new: str) -> Outcome:
    assert old in RIGHT
    return judged(backend, job(RIGHT.replace(old, new), stage=Stage.VERIFY))


def test_an_error_in_a_kernel_names_its_line_in_the_kernel(backend: LocalBackend) -> None:
    outcome = judge(backend, "BLOCK: tl.constexpr", "BLOCK")
    line = 1 + next(number for number, text in enumerate(RIGHT.splitlines()) if "tl.arange" in text)
    assert outcome.verdict is Verdict.COMPILE_FAILED
    assert f"pass_0.py line {line}, in add_relu_kernel: " in outcome.reason
    assert "Declare each block size as a constant of the kernel" in outcome.reason
    assert [(each.file, each.line, each.fatal) for each in outcome.findings] == [("pass_0.py", line, False)]
    (trace,) = [each.text for each in outcome.evidence if each.topic == "traceback"]
    assert not any(each in trace for each in ("site-packages", "passnet_core", "/tmp/"))
    assert trace.count("File ") == trace.count('File "pass_dir/pass_0.py"') == 1


def test_a_called_replacement_is_told_in_the_words_of_the_rule(backend: LocalBackend) -> None:
    outcome = judge(backend, "return add_relu\n", "return add_relu()\n")
    line = len(RIGHT.rstrip().splitlines())
    assert outcome.verdict is Verdict.DOES_NOT_LOAD
    assert f"pass_0.py line {line}: replacement_func calls add_relu instead of returning it." in outcome.reason
    assert [each.line for each in outcome.findings] == [line]
