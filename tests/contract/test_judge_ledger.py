"""What the judge's service remembers: across a restart, for as long as it says, and by one process beside another."""

from pathlib import Path

import pytest

from passnet_core.errors import InfrastructureError
from passnet_core.records import to_json
from passnet_core.server import ledger as ledger_module
from passnet_core.server.ledger import FILE, KEPT_S, TIDY_EVERY, Ledger
from tests.contract.made import job, outcome
from tests.fake_backend import FAKE_ENVIRONMENT


def test_the_first_answer_of_a_key_is_the_one_that_counts_in_every_process(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path), Ledger(tmp_path)
    assert one.answer("alice", "k") is None
    assert one.keep_answer("alice", "k", "digest", {"reward": 1.0}) == {"reward": 1.0}
    assert other.keep_answer("alice", "k", "digest", {"reward": 0.0}) == {"reward": 1.0}
    assert other.answer("bob", "k") is None
    one.close()
    other.close()
    again = Ledger(tmp_path)
    assert again.answer("alice", "k") == ("digest", {"reward": 1.0})
    again.close()


def test_what_is_older_than_a_week_is_forgotten_also_while_the_service_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1e9]
    monkeypatch.setattr(ledger_module.time, "time", lambda: now[0])
    kept = Ledger(tmp_path)
    old, new = outcome(job(0)), outcome(job(1))
    kept.keep_outcome(old)
    kept.keep_answer("alice", "k", "digest", {})
    now[0] += KEPT_S + 1
    for _ in range(TIDY_EVERY - 1):
        kept.keep_outcome(new)
    assert kept.outcome(old.job_digest, FAKE_ENVIRONMENT.digest) is None
    assert to_json(kept.outcome(new.job_digest, FAKE_ENVIRONMENT.digest)) == to_json(new)
    assert kept.answer("alice", "k") is None
    kept.close()


def test_a_file_that_is_no_ledger_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database" * 100)
    with pytest.raises(InfrastructureError, match=FILE):
        Ledger(tmp_path)
    assert (tmp_path / FILE).read_text().startswith("not a database")
