"""The corpus files that a static rule must reject: the rules run in this process, so that no judge is needed."""

import pytest

from passnet_core.bundles.static_rules.findings import findings
from tests.adversarial.corpus import Entry, entries

BY_RULE = [each for each in entries() if each.by_rule]


def test_three_families_have_files_for_the_static_rules() -> None:
    assert len(BY_RULE) >= 48
    assert {each.family for each in BY_RULE} == {"clock", "harness", "rules"}


@pytest.mark.parametrize("entry", BY_RULE, ids=lambda entry: entry.name)
def test_a_rule_named_in_the_header_rejects_the_file(entry: Entry) -> None:
    assert not entry.other_rules(findings(entry.bundle))
