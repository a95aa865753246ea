"""Persons with browsers, programs and agents at once: everybody gets turns, nothing is lost, nothing stays behind."""

from pathlib import Path

import pytest

from tests.page_client import run_apart
from tests.soak.holding import grown
from tests.soak.persons import KINDS
from tests.soak.soaking import Plan, served_town, soak
from tests.soak.table import table

pytestmark = [pytest.mark.settled, pytest.mark.sandbox, pytest.mark.long]

EIGHT = Plan(persons=8, minutes=0, turn_s=15.0, least=4, kept_s=5)
"""About two minutes on an idle machine: everybody takes four turns, however long that takes."""


def test_persons_of_all_kinds_lose_nothing_and_leave_nothing_behind(tmp_path: Path) -> None:
    with served_town(tmp_path, EIGHT) as served:
        result = run_apart(soak(served, EIGHT))
    assert set(KINDS) == {KINDS[person] for person in range(EIGHT.persons)}
    assert not result.notes.problems, table(result)
    assert result.notes.turns == dict.fromkeys(range(EIGHT.persons), EIGHT.least)
    assert result.after is not None
    assert not grown(result.before, result.after), table(result)
