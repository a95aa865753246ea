"""What a verdict is worth to somebody who trains a model: its components, and a default reward made of them.

The components say what the judge found, step by step, each None where it did not get that far or cannot tell. The
default reward gives nothing for steps on the way, so that no policy can live on them; whoever wants to, shapes a reward
of their own from the components."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.records import RIGHT, TIMED, UNDECIDED, UNJUDGED, UNLOADED, WRONG, Outcome, Verdict
from passnet_core.records.accuracy import base_set

NO_REWARD = UNJUDGED | UNDECIDED | {Verdict.EAGER_FAILED, Verdict.MATCHED}
"""Verdicts that say nothing of the values that the candidate computes, through no fault of its own."""

RIGHT_REWARD = 1.0
"""The reward of right outputs whose times are unknown, or not distinguishable from eager's."""
LEAST_FOR_TIME, MOST_FOR_TIME = -0.5, 2.0
"""The bounds of what the time adds to it."""


@dataclass(frozen=True)
class RightShare:
    """How much of the values is right. draws: the input sets that were compared, and on how many of them every output
    was right. smallest_t: the smallest tolerance level from -10 to 0 that holds on all of them; None: not even 0."""

    draws: int
    right_draws: int
    smallest_t: int | None

    @property
    def share(self) -> float:
        return self.right_draws / self.draws if self.draws else 0.0


@dataclass(frozen=True)
class FasterBy:
    """Eager's end-to-end time divided by the candidate's: the median ratio and its 95% interval."""

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class RewardParts:
    """What the judge found on one subgraph. reason: the verdict in a sentence. loads: the rules allow the bundle, and
    its code loads. matches: a pass matches. reward: the default reward, or None for no reward."""

    subgraph: str
    verdict: Verdict
    reason: str
    loads: bool | None
    matches: bool | None
    right: RightShare | None
    faster: FasterBy | None
    cheat: bool
    library: bool
    reward: float | None


def parts_of(outcome: Outcome) -> RewardParts:
    """The components of the reward of an outcome of a bundle."""
    verdict = outcome.verdict
    known = verdict not in UNJUDGED
    loads = verdict not in UNLOADED if known else None
    matches = bool(outcome.match.count) if outcome.match is not None and known else None
    speedup = outcome.speedup() if verdict in TIMED else None
    faster = None if speedup is None else FasterBy(speedup.value, speedup.low, speedup.high)
    return RewardParts(
        subgraph=outcome.subgraph_id,
        verdict=verdict,
        reason=outcome.reason,
        loads=loads,
        matches=matches,
        right=_right(outcome),
        faster=faster,
        cheat=verdict is Verdict.CHEAT,
        library=verdict is Verdict.LIBRARY,
        reward=default_reward(verdict, faster),
    )


def default_reward(verdict: Verdict, faster: FasterBy | None = None) -> float | None:
    """The default reward of one subgraph: None if nothing is known, 0 unless the outputs are right, and 1 if they are.

    A measurable difference in time adds the base-2 logarithm of the ratio to eager, at the end of its interval that is
    nearer to 1, from -0.5 to 2: twice as fast is 2, four times as fast, and faster than that, is 3."""
    if verdict in NO_REWARD:
        return None
    if verdict not in RIGHT:
        return 0.0
    if faster is None or verdict not in (Verdict.FASTER, Verdict.SLOWER):
        return RIGHT_REWARD
    ratio = max(1.0, faster.low) if verdict is Verdict.FASTER else min(1.0, faster.high)
    return RIGHT_REWARD + min(MOST_FOR_TIME, max(LEAST_FOR_TIME, math.log2(max(ratio, 1e-9))))


def reward_of(parts: Sequence[RewardParts]) -> float | None:
    """The default reward of a bundle on all subgraphs of a task: their mean. 0 if it cheats anywhere, and None if a
    subgraph has no reward, since its share would be a guess."""
    if any(each.cheat for each in parts):
        return 0.0
    rewards = [each.reward for each in parts]
    known = [each for each in rewards if each is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(rewards) else None


def reward_numbers(parts: Sequence[RewardParts]) -> dict[str, float] | None:
    """What a reward file has: the default reward of a bundle on a task, `reward`, the share of the subgraphs on which
    its outputs are right, `right`, and if all were timed the geometric mean of the ratios to eager, `speedup`. None for
    no reward. Without parts there was no bundle to judge: all is 0."""
    reward = reward_of(parts) if parts else 0.0
    if reward is None:
        return None
    numbers = {"reward": reward, "right": sum(each.verdict in RIGHT for each in parts) / max(len(parts), 1)}
    ratios = [each.faster.ratio for each in parts if each.faster is not None]
    if ratios and len(ratios) == len(parts):
        numbers["speedup"] = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    return numbers


def _right(outcome: Outcome) -> RightShare | None:
    accuracy = outcome.accuracy
    if accuracy is None or outcome.verdict not in RIGHT | WRONG:
        return None
    failed = {name for output in accuracy.outputs for name in output.failed_sets}
    draws = {*map(base_set, accuracy.profiles), *failed}
    # an output that is wrong as a whole, as one of another shape, fails on all of them
    whole = outcome.verdict in WRONG and not failed
    return RightShare(len(draws), 0 if whole else len(draws - failed), accuracy.smallest_t)
