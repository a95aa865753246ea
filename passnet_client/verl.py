"""The judge's service as a reward function for verl 0.9, for answers that are complete in themselves.

    python -m verl.trainer.main_ppo ... reward.custom_reward_function.path=pkg://passnet_client.verl \\
        reward.custom_reward_function.name=compute_score

verl knows no absent reward: every number moves the policy, and NaN would make the weights NaN. So a score that cannot
be told is an error, NoReward. The trainer with agent loops (trainer.v1) drops the prompt's group then, and replaces it
with trainer.v1.sampler.sync_refill_failed_groups; other trainers stop, and go on from their last checkpoint.

Leave compute_score_timeout of the naive reward manager unset: it scores what takes too long as 0. The service has a
deadline of its own, and this function repeats what a busy or restarting service does not answer."""

import functools
from typing import Any

from passnet_client.judge_client import PATIENCE_S, JudgeClient, shares


class NoReward(Exception):
    """Nothing can be said of an answer, through no fault of its own."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    url: str = "",
    patience_s: float = PATIENCE_S,
    **how: Any,
) -> dict[str, float]:
    """The default reward of an answer, as `score`, and as shares from 0 to 1 what it is made of: on which share of the
    subgraphs the bundle was accepted as `acc`, and else as shares() names them.

    ground_truth: the task's name. extra_info: its `stage`, if it has one, says how to judge. url, patience_s, how: from
    reward.custom_reward_function.reward_kwargs: the service, and further fields of its POST /evaluate. Raises NoReward,
    and JudgeError if the service does not answer or refuses the request."""
    stage = (extra_info or {}).get("stage")
    asked = {**({"stage": stage} if stage else {}), **how}
    try:
        answer = _judge(url, patience_s).evaluate(ground_truth, text=solution_str, **asked)
    except TimeoutError as error:
        # verl's own time limit, which it would turn into the reward 0
        raise NoReward(f"The judge was not waited for on task {ground_truth!r}.") from error
    if answer["reward"] is None:
        raise NoReward(f"No reward on task {ground_truth!r}: {answer['no_reward']}")
    found = shares(answer)
    return {"score": float(answer["reward"]), "acc": found.pop("accepted"), **found}


@functools.cache
def _judge(url: str, patience_s: float) -> JudgeClient:
    return JudgeClient(url, patience_s=patience_s)
