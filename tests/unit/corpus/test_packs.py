"""Packs: read back whole, whatever happened while they were written."""

import gzip
import json
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.packs import Pack, index_of, packs_in, write_pack, writing
from passnet_core.corpus.summaries import summary
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Task
from tests.unit.corpus.samples import sample_folder, sample_task

PROJECT = Path(__file__).resolve().parents[3]
TASKS = [sample_task(f"task-{number}", count=number + 1) for number in range(4)]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    write_pack(tmp_path / "some.jsonl.gz", TASKS)
    return tmp_path / "some.jsonl.gz"


def names(path: Path) -> list[str]:
    return list(Pack(path).entries)


def every(path: Path) -> list[Task]:
    pack = Pack(path)
    return [pack.task(name) for name in pack.entries]


def test_tasks_read_as_they_were_written(pack: Path) -> None:
    opened = Pack(pack)
    assert [opened.task(name) for name in reversed(opened.entries)] == TASKS[::-1]
    assert [entry.summary for entry in opened.entries.values()] == [summary(task) for task in TASKS]
    assert (opened.problem, opened.recovered) == ("", ())


def test_the_corpus_has_them_beside_folders_and_the_first_of_a_name_counts(pack: Path, tmp_path: Path) -> None:
    sample_folder(tmp_path, "task-1", count=1)
    sample_folder(tmp_path, "alone")
    corpus = Corpus([tmp_path])
    assert [each.id for each in corpus.tasks()] == ["alone", "task-0", "task-1", "task-2", "task-3"]
    assert len(corpus.task("task-1").subgraphs) == 1
    assert corpus.task("task-3") == TASKS[3]
    assert "came earlier: 1." in corpus.problems[0]


def test_the_same_tasks_make_the_same_bytes(pack: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "again.jsonl.gz", TASKS)
    assert (tmp_path / "again.jsonl.gz").read_bytes() == pack.read_bytes()
    assert index_of(tmp_path / "again.jsonl.gz").read_bytes() == index_of(pack).read_bytes()


def test_a_pack_is_a_table_to_duckdb_and_lines_to_everybody(pack: Path) -> None:
    rows = duckdb.sql(f"SELECT task, count(*), max(len(inputs)) FROM read_json('{pack}') GROUP BY task ORDER BY task")
    assert rows is not None
    assert rows.fetchall() == [(f"task-{number}", number + 1, 2) for number in range(4)]
    lines = [json.loads(line) for line in gzip.decompress(pack.read_bytes()).splitlines()]
    assert [line["subgraph"] for line in lines[:2]] == [TASKS[0].subgraphs[0].id, TASKS[1].subgraphs[0].id]


@pytest.mark.parametrize("damage", ["missing", "empty", "rubbish", "half a line", "of a longer file"])
def test_a_broken_index_is_made_anew(pack: Path, damage: str) -> None:
    index = index_of(pack)
    whole = index.read_bytes()
    if damage == "missing":
        index.unlink()
    else:
        texts = {"empty": b"", "rubbish": b"[]\n" + whole, "half a line": whole[:-30], "of a longer file": whole * 2}
        index.write_bytes(texts[damage])
    assert every(pack) == TASKS
    with writing(pack) as writer:
        writer.append(sample_task("more"), summary(sample_task("more")))
    assert every(pack) == [*TASKS, sample_task("more")]
    assert Pack(pack).recovered == ()


@pytest.mark.parametrize("left", [1, 40, -1])
def test_a_member_without_its_end_is_passed_over_and_then_taken_away(pack: Path, left: int) -> None:
    last = Pack(pack).entries["task-3"]
    content = pack.read_bytes()
    pack.write_bytes(content[: last.offset + left] if left > 0 else content[:left])
    torn = Pack(pack)
    assert list(torn.entries) == ["task-0", "task-1", "task-2"]
    assert "ends inside a task" in torn.problem
    assert "ends inside a task" in Corpus([pack.parent]).problems[0]
    with writing(pack) as writer:
        writer.append(TASKS[3], summary(TASKS[3]))
    assert every(pack) == TASKS
    assert pack.read_bytes() == content


def test_a_damaged_pack_gives_what_it_can_and_is_not_added_to(pack: Path) -> None:
    entry = Pack(pack).entries["task-2"]
    content = bytearray(pack.read_bytes())
    content[entry.offset + 12 : entry.offset + 30] = b"\0" * 18
    pack.write_bytes(content)
    with pytest.raises(BadInput, match=r"'task-2' in some\.jsonl\.gz is damaged"):
        Pack(pack).task("task-2")
    assert Pack(pack).task("task-3") == TASKS[3]
    index_of(pack).unlink()
    assert names(pack) == ["task-0", "task-1"]
    with pytest.raises(BadInput, match=r"damaged after .* Move .* away"), writing(pack):
        pass
    assert pack.read_bytes() == bytes(content)


def test_what_is_no_task_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl.gz"
    write_pack(path, TASKS[:1])
    with path.open("ab") as file:
        file.write(gzip.compress(b'{"task": "x"}\n'))
    opened = Pack(path)
    assert list(opened.entries) == ["task-0"]
    assert "these are not the lines of a task" in opened.problem
    (tmp_path / "text.jsonl.gz").write_text("not compressed at all")
    assert "is damaged after 0 bytes" in Pack(tmp_path / "text.jsonl.gz").problem


def test_an_index_of_other_content_does_not_pass_for_this_one(pack: Path) -> None:
    renamed = index_of(pack).read_text().replace('"id":"task-1"', '"id":"task-9"')
    index_of(pack).write_text(renamed)
    with pytest.raises(BadInput, match=r"some\.index\.jsonl does not fit the pack at task 'task-9'"):
        Pack(pack).task("task-9")


def test_only_one_writes_at_a_time(pack: Path) -> None:
    with writing(pack), pytest.raises(BadInput, match=r"Another import .* is running"), writing(pack):
        pass


def test_a_pack_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path) -> None:
    empty = Task("empty", TASKS[0].family, "", ())
    with pytest.raises(BadInput, match="'empty' has no subgraph"):
        write_pack(tmp_path / "x.jsonl.gz", [*TASKS, empty])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot be written"), writing(tmp_path / "file" / "x.jsonl.gz"):
        pass
    assert packs_in(tmp_path / "nowhere") == []


def test_a_full_disk_ends_an_import_and_keeps_what_was_written(pack: Path) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = pack.stat().st_size

    def adding() -> None:
        with writing(pack) as writer:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, limit[1]))
            writer.append(sample_task("more"), summary(sample_task("more")))

    try:
        with pytest.raises(InfrastructureError, match=r"File too large\. Tasks written before are kept"):
            adding()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert every(pack) == TASKS
    with writing(pack) as writer:
        assert "more" not in writer.entries
        writer.append(sample_task("more"), summary(sample_task("more")))
    assert names(pack)[-1] == "more"


def test_an_import_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    for number in range(60):
        sample_folder(tmp_path / "from", f"task-{number:03}", count=2)
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from passnet_core.corpus import packs
        from passnet_core.corpus.catalogue import Corpus
        packs.BATCH_BYTES = 1

        def wait(done, total):
            if done == 25:
                print("here", flush=True)
                sys.stdin.read()

        Corpus([]).import_folder(Path(sys.argv[1]), Path(sys.argv[2]), progress=wait)
        """
    )
    command = [sys.executable, "-c", program, str(tmp_path / "from"), str(tmp_path / "mine")]
    child = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"here\n"
    child.kill()
    child.communicate()
    corpus = Corpus([tmp_path / "mine"])
    assert len(corpus.tasks()) == 25
    seen: list[tuple[int, int]] = []
    report = corpus.import_folder(
        tmp_path / "from", tmp_path / "mine", progress=lambda done, total: seen.append((done, total))
    )
    assert (len(report.tasks), report.problems) == (60, ())
    assert (seen[0], seen[-1]) == ((0, 60), (60, 60))
    assert len(Corpus([tmp_path / "mine"]).tasks()) == 60
    assert Corpus([tmp_path / "mine"]).task("task-059") == sample_task("task-059")
