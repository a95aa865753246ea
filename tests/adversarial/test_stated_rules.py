"""The files of the corpus that only a static rule may stop, read by the rules in this process: no judge is needed."""

import pytest

from passnet_core.bundles.static_rules.findings import findings
from tests.adversarial.corpus import Entry, entries

BY_RULE = [each for each in entries() if each.by_rule]


def test_there_are_such_files_in_three_families() -> None:
    assert len(BY_RULE) >= 48
    assert {each.family for each in BY_RULE} == {"clock", "harness", "rules"}


@pytest.mark.parametrize("entry", BY_RULE, ids=lambda entry: entry.name)
def test_the_stated_rule_rejects_it(entry: Entry) -> None:
    assert not entry.other_rules(findings(entry.bundle))
