"""Report cards of language models: what is counted together, and in which order it stands."""

import pytest

from passnet_core.leaderboard.report_card import cards
from passnet_core.records import CLOCK_VERSION, Baseline, Capture, EvalSpec, Profile, Stage, Verdict
from passnet_core.records.trajectories import DEFAULT_BUDGET, FREE, End, Ending, Opening
from passnet_core.store.rows import TrajectorySummary

DEFAULT = EvalSpec(stage=Stage.MEASURE)


def attempt(
    model: str = "ours",
    verdict: Verdict = Verdict.FASTER,
    *,
    spec: EvalSpec = DEFAULT,
    device: str = "H200",
    clock_version: int = CLOCK_VERSION,
) -> TrajectorySummary:
    opening = Opening(
        id="one", task_id="task", split="train", operators=("relu",), subgraphs=("s",), model=model, prompts="p",
        spec=spec, budget=DEFAULT_BUDGET, price=FREE, started_at="", device=device, clock_version=clock_version,
    )  # fmt: skip
    ending = Ending(End.FINISHED, "", 1, 10, 0.0, int(verdict.accepted), 1, None, ((verdict, 1),))
    return TrajectorySummary(opening, "", ending, 1, 1)


@pytest.mark.parametrize(
    "other",
    [
        attempt(clock_version=1),
        attempt(spec=EvalSpec(stage=Stage.MEASURE, baseline=Baseline.EAGER_ROUNDING)),
        attempt(spec=EvalSpec(stage=Stage.MEASURE, capture=Capture.COMPILED)),
        attempt(spec=EvalSpec(stage=Stage.MEASURE, profile=Profile.PASSNET)),
        attempt(device="A30"),
    ],
    ids=["clock version", "baseline", "capture", "profile", "device"],
)
def test_attempts_under_unlike_conditions_are_never_counted_together(other: TrajectorySummary) -> None:
    assert [(card.attempts, card.accepted) for card in cards([attempt(), attempt()])] == [(2, 2)]
    found = cards([attempt(), other, attempt()])
    assert sorted(card.attempts for card in found) == [1, 2]
    assert len({(card.ground, card.baseline) for card in found}) == 2


def test_comparable_cards_follow_each_other_the_newest_clock_and_the_default_baseline_first() -> None:
    rounding = EvalSpec(stage=Stage.MEASURE, baseline=Baseline.EAGER_ROUNDING)
    found = cards(
        [
            attempt("older", clock_version=1),
            attempt("rounding", spec=rounding),
            attempt("worse", Verdict.WRONG_VALUES),
            attempt("better"),
        ]
    )
    assert [card.model for card in found] == ["better", "worse", "rounding", "older"]
