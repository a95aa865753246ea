"""Bundles of many tasks in one file."""

import lzma
from pathlib import Path

import pytest

from passnet_core.corpus.solved import read_solved, write_solved
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, PassFile
from passnet_core.settings import rules_file

BUNDLES = {
    "two": Bundle(
        (PassFile("b.py", "y = 'ü'\n"), PassFile("a.py", "x = 1\n")), (PassFile("h.py", ""),), author="rules"
    ),
    "one": Bundle((PassFile("a.py", "x = 2\n"),)),
}


def test_bundles_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_solved(tmp_path / "first.xz", BUNDLES)
    write_solved(tmp_path / "second.xz", dict(reversed(BUNDLES.items())))
    assert read_solved(tmp_path / "first.xz") == BUNDLES
    assert (tmp_path / "first.xz").read_bytes() == (tmp_path / "second.xz").read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no xz file",
        lzma.compress(b""),
        lzma.compress(b"[1]\n"),
        lzma.compress(b'{"format": "passnet-run", "version": 1, "bundles": 0}\n'),
        lzma.compress(b'{"format": "passnet-bundles", "version": 2, "bundles": 0}\n'),
        lzma.compress(b'{"format": "passnet-bundles", "version": 1, "bundles": 3}\n'),
        lzma.compress(b'{"format": "passnet-bundles", "version": 1, "bundles": 1}\n{"task": "a", "bundle": 3}\n'),
        lzma.compress(b'{"format": "passnet-bundles", "version": 1, "bundles": 1}\n{"task": "a", "bund'),
    ],
)
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bundles.xz").write_bytes(content)
    with pytest.raises(BadInput, match=r"bundles\.xz"):
        read_solved(tmp_path / "bundles.xz")


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    write_solved(tmp_path / "bundles.xz", BUNDLES)
    whole = (tmp_path / "bundles.xz").read_bytes()
    (tmp_path / "bundles.xz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"bundles\.xz"):
        read_solved(tmp_path / "bundles.xz")


def test_no_line_of_the_bundled_passes_is_too_long() -> None:
    longest = {
        (task_id, file.name): max(map(len, file.code.splitlines()))
        for task_id, bundle in read_solved(rules_file()).items()
        for file in bundle.passes
    }
    assert {name: length for name, length in longest.items() if length > 120} == {}
