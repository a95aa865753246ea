"""A file that processes share: what is said when its log is broken."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from passnet_core.errors import InfrastructureError
from passnet_core.shared_file import SharedFile
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
SCHEMA = "CREATE TABLE IF NOT EXISTS names (name TEXT)"
OTHER = "CREATE TABLE IF NOT EXISTS others (name TEXT PRIMARY KEY)"
KILLED = """
import os, signal, sys
from pathlib import Path
from passnet_core.shared_file import SharedFile
shared = SharedFile(Path(sys.argv[1]), sys.argv[2])
for name in sys.argv[3:]:
    shared.rows(f"INSERT INTO {name.partition(':')[0]} (name) VALUES (?)", name * 900)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(path: Path, schema: str, *rows: str) -> Path:
    """A file with 60 rows, and with rows that are in the log only. Returns the log."""
    shared = SharedFile(path, schema)
    for number in range(60):
        shared.rows(f"INSERT INTO {rows[0].partition(':')[0]} (name) VALUES (?)", str(number) * 500)
    shared.close()
    asked = [sys.executable, "-c", KILLED, str(path), schema, *rows]
    assert subprocess.run(asked, cwd=PROJECT, timeout=seconds(60), check=False).returncode == -signal.SIGKILL
    return path.with_name(f"{path.name}-wal")


@pytest.mark.parametrize("damage", ["garbage", "zero bytes", "of another file", "a folder", "without its file"])
def test_a_broken_log_is_named_with_what_saves_the_rest(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "people.sqlite"
    log = killed(path, SCHEMA, *[f"names:{number}" for number in range(9)])
    if damage == "a folder":
        log.unlink()
        log.mkdir()
    elif damage == "of another file":
        log.write_bytes(killed(tmp_path / "other", OTHER, "others:1").read_bytes())
    elif damage == "without its file":
        path.rename(tmp_path / "elsewhere")
    else:
        log.write_bytes({"garbage": b"no log" * 999, "zero bytes": bytes(9_999)}[damage])
    for _ in range(2):
        with pytest.raises(
            InfrastructureError, match=r"people\.sqlite-wal, the log .* cannot be used: .* move it away"
        ):
            SharedFile(path, SCHEMA)
    if damage == "without its file":
        (tmp_path / "elsewhere").rename(path)
        assert names(path) == 69, "nothing was lost by trying"
        return
    shutil.move(log, tmp_path / "moved away")
    assert names(path) == 60, "the rest is there"


def test_a_log_that_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    log = killed(path, SCHEMA, "names:1", "names:2")
    content = log.read_bytes()
    shutil.copytree(tmp_path, tmp_path / "cut")
    assert names(path) == 62
    (tmp_path / "cut" / log.name).write_bytes(content[:-9])
    assert names(tmp_path / "cut" / path.name) == 61, "the last one was not written to its end"


def names(path: Path) -> int:
    shared = SharedFile(path, SCHEMA)
    found = shared.rows("SELECT count(*) FROM names")[0][0]
    shared.close()
    return int(found)
