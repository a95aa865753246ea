"""Scores a batch with verl's reward managers, old and new, with the function loaded as its trainers load it."""

import asyncio
from typing import Any

import numpy
import torch
from omegaconf import OmegaConf  # type: ignore[import-not-found]
from told import error_of, order, tell  # type: ignore[import-not-found]
from verl import DataProto  # type: ignore[import-not-found]
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls  # type: ignore[import-not-found]
from verl.trainer.ppo.reward import get_custom_reward_fn  # type: ignore[import-not-found]
from verl.workers.reward_manager.dapo import DAPORewardManager  # type: ignore[import-not-found]
from verl.workers.reward_manager.naive import NaiveRewardManager  # type: ignore[import-not-found]

NOWHERE = "http://127.0.0.1:9"


class Bytes:
    """A tokenizer of bytes, of which a reward manager needs no more than this."""

    eos_token = "\x00"

    def decode(self, tokens: Any, skip_special_tokens: bool = True) -> str:
        return bytes(int(each) for each in tokens).decode().rstrip("\x00")


def batch(answers: list[str], task: str) -> DataProto:
    """A batch as it comes from rollouts: prompts padded on the left, answers on the right."""
    longest = max(len(each.encode()) for each in answers)
    rows = [list(each.encode()) for each in answers]
    responses = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    mask = torch.tensor([[1] * 3 + [1] * len(row) + [0] * (longest - len(row)) for row in rows])
    prompts = torch.tensor([[1, 2, 3]] * len(rows))
    others = {
        "data_source": ["passnet"] * len(rows),
        "reward_model": [{"style": "rule", "ground_truth": task} for _ in rows],
        "extra_info": [{"index": number, "stage": "verify"} for number in range(len(rows))],
    }
    return DataProto.from_dict(
        {"prompts": prompts, "responses": responses, "attention_mask": mask},
        non_tensors={name: numpy.array(values, dtype=object) for name, values in others.items()},
    )


def main() -> None:
    asked = order()

    def function(url: str, patience_s: float = 300.0) -> Any:
        custom = {
            "path": asked["path"],
            "name": "compute_score",
            "reward_kwargs": {"url": url, "patience_s": patience_s},
        }
        return get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": custom}}))

    names = ["right", "wrong", "nothing"]
    data = batch([asked["answers"][name] for name in names], "add-relu")
    faulty = batch([asked["answers"]["fault"]], "add-relu")
    score, nowhere = function(asked["url"]), function(NOWHERE, 0.0)
    waiting = function(NOWHERE, 5.0)
    found: dict[str, Any] = {}
    for manager in (NaiveRewardManager, DAPORewardManager):
        told = manager(Bytes(), 0, score)(data, return_dict=True)
        found[manager.__name__] = {
            "sums": told["reward_tensor"].sum(dim=1).tolist(),
            "at the end": [
                float(told["reward_tensor"][row, len(asked["answers"][name].encode()) - 1])
                for row, name in enumerate(names)
            ],
            "extra": {name: list(values) for name, values in told["reward_extra_info"].items()},
            "fault": error_of(manager(Bytes(), 0, score), faulty),
            "unreachable": error_of(manager(Bytes(), 0, nowhere), data),
        }
    found["timed out"] = error_of(NaiveRewardManager(Bytes(), 0, waiting, compute_score_timeout=1), data)

    async def one(name: str, of: DataProto, with_function: Any) -> Any:
        config = OmegaConf.create({"reward": {"reward_kwargs": {}}, "data": {}, "actor_rollout_ref": {}})
        return await get_reward_manager_cls(name)(config, Bytes(), with_function).run_single(of)

    for name in ("naive", "dapo"):
        told = [asyncio.run(one(name, data[row : row + 1], score)) for row in range(len(names))]
        found[f"loop {name}"] = {
            "scores": [each["reward_score"] for each in told],
            "acc": [each["reward_extra_info"]["acc"] for each in told],
            "fault": error_of(asyncio.run, one(name, faulty, score)),
        }
    tell(**found)


if __name__ == "__main__":
    main()
