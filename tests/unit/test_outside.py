"""The door for what comes from outside."""

import gc
import os
import sys
import threading
from pathlib import Path

import pytest

from passnet_core import outside
from passnet_core.records.text import is_valid, valid

HALF, PAIR = chr(0xD83D), chr(0xD83D) + chr(0xDE00)


@pytest.mark.parametrize(
    ("text", "is_meant"),
    [("plain", "plain"), ("é🔥", "é🔥"), (f"a{HALF}b", "a\ufffdb"), (PAIR, "\U0001f600"), ("caf\udce9", "caf\ufffd")],
)
def test_a_text_is_made_valid_unicode(text: str, is_meant: str) -> None:
    assert valid(text) == is_meant
    assert is_valid(is_meant)
    assert is_valid(text) == (text == is_meant)


def test_what_is_too_long_is_shortened_and_shown_to_be() -> None:
    assert outside.shortened("x" * 10, 10) == "x" * 10
    assert outside.shortened("x" * 11, 10) == "x" * 9 + "…"
    assert outside.quoted("a\x1b" + HALF) == "'a\\x1b\ufffd'"


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "", "9" * 5000, b"\xff"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        outside.from_json_text(text)


@pytest.mark.parametrize(
    "text", [r'{"\ud800": ["\ud83d\ude00", "\uD800"]}', rb'{"\ud800": ["\ud83d\ude00", "\uD800"]}']
)
def test_the_strings_of_json_are_made_valid(text: str | bytes) -> None:
    assert outside.from_json_text(text) == {"\ufffd": ["\U0001f600", "\ufffd"]}
    assert outside.from_json_text(text, mended=False) == {"\ud800": ["\U0001f600", "\ud800"]}


def test_only_files_that_end_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for name, why in (
        ("pipe", "not a plain file"), ("endless", "not a plain file"), ("folder", "a folder"),
        ("loop", "symbolic links"), ("missing", "No such file"), ("x" * 300, "too long"), ("a\0b", "no file can have"),
    ):  # fmt: skip
        with pytest.raises(OSError, match=why) as refused:
            outside.file_bytes(tmp_path / name)
        assert outside.cause(refused.value), name


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"x" * (2 << 20))
    assert len(outside.file_bytes(file, 2 << 20)) == 2 << 20
    with pytest.raises(OSError, match="larger than 1 MiB"):
        outside.file_bytes(file, 1 << 20)


def test_text_is_read_as_editors_on_other_systems_save_it(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert outside.file_text(file) == "one\ntwo\nthree\n"
    file.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError) as refused:
        outside.file_text(file)
    assert outside.cause(refused.value) == "it is not UTF-8 text"


def test_code_is_parsed_by_many_threads_at_once() -> None:
    code = Path(__file__).read_text(encoding="utf-8")
    refused: list[BaseException] = []

    class Litter:
        def __del__(self) -> None:
            sum(range(200))

    def litter() -> None:
        for _ in range(3000):
            each = Litter()
            each.own = each  # type: ignore[attr-defined]

    def parse() -> None:
        try:
            for _ in range(40):
                outside.syntax_tree(code)
        except BaseException as error:
            refused.append(error)

    threads = [threading.Thread(target=litter), *(threading.Thread(target=parse) for _ in range(8))]
    usual, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50, 2, 2)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(usual)
        gc.set_threshold(*thresholds)
    assert refused == []


def test_nothing_that_serves_many_parses_code_by_itself() -> None:
    project = Path(outside.__file__).parents[1]
    # training parses in one thread, and so does a worker of the judge
    files = [*project.glob("passnet_core/**/*.py"), *project.glob("pages/**/*.py")]
    parsing = {each.relative_to(project).as_posix() for each in files if "ast.parse(" in each.read_text("utf-8")}
    apart = ("passnet_core/judge/gpu_on_cpu/", "passnet_core/judge/plan/", "passnet_core/judge/worker/",
             "passnet_core/training/")  # fmt: skip
    assert {each for each in parsing if not each.startswith(apart)} == {"passnet_core/outside.py"}
