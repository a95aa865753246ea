"""How much of an outcome is kept."""

from dataclasses import replace

from passnet_core.execution.bounding import LONGEST_TEXT, MOST_FINDINGS, bounded
from passnet_core.records import Evidence, Verdict
from tests.contract.made import job, outcome

REJECTED = outcome(job(), Verdict.REJECTED)


def test_what_is_short_stays_the_same() -> None:
    for verdict in Verdict:
        if verdict is not Verdict.MATCHED:
            made = outcome(job(), verdict)
            # as text, because NaN does not equal itself
            assert repr(bounded(made)) == repr(made)


def test_as_much_of_an_outcome_is_kept_as_somebody_reads() -> None:
    told = replace(REJECTED.findings[0], fatal=False, message="x" * 100_000)
    made = replace(
        REJECTED,
        findings=(*[replace(told, line=line) for line in range(1, 1_001)], REJECTED.findings[0]),
        reason="r" * 100_000,
        warnings=("w" * 100_000,) * 1_000,
        evidence=(Evidence("seed", "e" * 100_000, (("x", 1.0),) * 10_000),) * 1_000,
        log_tail="a" * 100_000 + "the end",
    )
    kept = bounded(made)
    assert kept.verdict is Verdict.REJECTED
    assert kept.findings[0] == REJECTED.findings[0], "what rejects the bundle comes first"
    assert len(kept.findings) == MOST_FINDINGS + 1
    assert (kept.findings[-1].line, kept.findings[-1].message[:26]) == (50, "There are 951 more finding")
    assert kept.findings[1].message.endswith("x … (98,000 more characters are left out)")
    assert kept.reason.startswith("r" * LONGEST_TEXT)
    assert kept.log_tail.endswith("athe end")
    assert len(str(kept)) < 1_500_000 < len(str(made))
