"""The real judge explains a pass that matches nothing, and the edit that it proposes makes the pass match."""

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.graphs.explaining import pattern_from_text
from passnet_core.graphs.respelling import patched
from passnet_core.records import MissKind, Outcome, Stage, Verdict, from_json, to_json
from tests.contract.judging import RIGHT, bundle, job, judged

MISSING = RIGHT.replace("torch.nn.functional.relu(a + b)", "torch.relu(b * 1 + a)").replace(
    "return torch.relu(b * 1 + a)", "s = torch.add(a, b, alpha=2)\n    return torch.nn.functional.relu(s, True)"
)
HOSTILE = RIGHT.replace("def pattern(a, b):", "def pattern(a, b):\n    é_script = a.detach()").replace(
    "torch.nn.functional.relu(a + b)", "torch.nn.functional.relu(é_script + b)"
)


def test_a_match_is_reported_with_its_pattern_and_its_pairs_of_nodes(backend: LocalBackend) -> None:
    outcome = judged(backend, job(RIGHT, Stage.CHECK))
    assert outcome.match is not None
    (found,) = outcome.match.passes
    pattern = pattern_from_text(found.pattern)
    assert [node.target for node in pattern.operations] == ["operator.add", "torch.nn.functional.relu"]
    (pairing,) = found.pairings
    assert dict(pairing.nodes) == {"add": "tmp_0", "relu": "tmp_1"}
    assert dict(pairing.inputs) == {"a": "in_0", "b": "in_1"}
    assert from_json(Outcome, to_json(outcome)) == outcome


@pytest.mark.parametrize("code", [MISSING, RIGHT.replace("torch.nn.functional.relu(a + b)", "(b + a).relu()")])
def test_a_miss_is_reported_with_its_attempts_and_an_edit_that_makes_it_match(backend: LocalBackend, code: str) -> None:
    outcome = judged(backend, job(code, Stage.CHECK))
    assert outcome.verdict is Verdict.NO_MATCH
    assert outcome.match is not None
    (found,) = outcome.match.passes
    pattern = pattern_from_text(found.pattern)
    assert found.miss is not None
    assert found.attempts[0].differences[0].reason == found.miss.reason
    for attempt in found.attempts:
        assert attempt.anchor[0] in pattern.by_name
        assert all(name in pattern.by_name for name, _ in attempt.fitted)
    assert found.edit is not None
    assert found.edit.matches == 1
    after = patched(code, found.edit.lines)
    assert after is not None
    mended = judged(backend, job(after, Stage.CHECK))
    assert mended.verdict is Verdict.MATCHED, mended.reason


def test_names_outside_ascii_do_not_lose_the_report(backend: LocalBackend) -> None:
    outcome = judged(backend, job(bundle(HOSTILE), Stage.CHECK))
    assert outcome.match is not None
    (found,) = outcome.match.passes
    assert found.miss is not None
    assert found.miss.kind in (MissKind.OPERATOR, MissKind.LITERAL)
    assert pattern_from_text(found.pattern).operations[0].target == "detach"
