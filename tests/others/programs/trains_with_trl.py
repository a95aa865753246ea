"""Trains with TRL's GRPOTrainer: with the reward function, and with the environment. The model's samples are written
beforehand; all else is TRL's: prompts, tools, rewards, advantages and the step."""

import json
import math
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset  # type: ignore[import-not-found]
from told import error_of, order, tell  # type: ignore[import-not-found]
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer  # type: ignore[import-not-found]
from trl.chat_template_utils import qwen3_template  # type: ignore[import-not-found]

from passnet_client import JudgeClient
from passnet_client.trl import JudgedConversation, judged_reward, prompt_rows
from tests.others import tiny_model

NOWHERE = "http://127.0.0.1:9"
AFTER_TOOLS = "That is all."
ROWS = [{"prompt": [{"role": "user", "content": "Fuse it."}], "task": "add-relu"}]


class Scripted(GRPOTrainer):
    """Samples the given completions, one for each rollout of the group, and the last words once tools have answered."""

    samples: list[str]

    def _generate_single_turn(self, prompt_ids: Any, *given: Any, **more: Any) -> Any:
        asked = [self._tokenizer.decode(each) for each in prompt_ids]
        answers = [
            AFTER_TOOLS if "<tool_response>" in text else self.samples[number] for number, text in enumerate(asked)
        ]
        return [self._tokenizer.encode(each + tiny_model.TURN_END) for each in answers], None


def step(folder: Path, samples: list[str], **how: Any) -> dict[str, Any]:
    """Take one step on one group with these completions, and return what TRL made of it."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.response_template = qwen3_template
    model = AutoModelForCausalLM.from_pretrained(folder)
    before = torch.cat([each.detach().flatten().clone() for each in model.parameters()])
    config = GRPOConfig(
        str(folder / "trained"), report_to="none", use_cpu=True, bf16=False, max_steps=1, logging_steps=1, beta=0.0,
        per_device_train_batch_size=len(samples), num_generations=len(samples), max_completion_length=4096,
        save_strategy="no",
    )  # fmt: skip
    trainer = Scripted(model, args=config, train_dataset=Dataset.from_list(ROWS), processing_class=tokenizer, **how)
    trainer.samples = samples
    trainer.train()
    after = torch.cat([each.detach().flatten() for each in model.parameters()])
    ((name, rewards),) = trainer._logs["rewards"].items()
    return {
        "name": name,
        "rewards": [None if math.isnan(each) else each for each in rewards],
        "advantages": list(trainer._logs["advantages"]),
        "judged": list(trainer._logs["extra"].get("judged", [])),
        "roles": [[each["role"] for each in completion] for completion in trainer._logs["completion"]],
        "said": [completion[-2]["content"] for completion in trainer._logs["completion"] if len(completion) > 1],
        "logged": next(each for each in trainer.state.log_history if "reward" in each),
        "moved": float((after - before).abs().max()),
    }


def called(tool: str, **arguments: str) -> str:
    call = json.dumps({"name": tool, "arguments": arguments})
    return f"<tool_call>\n{call}\n</tool_call>"


def main() -> None:
    asked = order()
    judge, nobody = JudgeClient(asked["url"]), JudgeClient(NOWHERE, patience_s=0)
    folder = Path.cwd() / "model"
    folder.mkdir()
    tiny_model.write(folder, tiny_model.Recipe())
    found: dict[str, Any] = {}

    texts = list(asked["answers"].values())
    found["function"] = step(folder, texts, reward_funcs=judged_reward(judge))
    found["function, no judge"] = step(folder, texts, reward_funcs=judged_reward(nobody))

    def reward(*completions: Any, task: str = "add-relu") -> list[float | None]:
        given: list[float | None] = judged_reward(judge)(list(completions), [task] * len(completions), prompts=[])
        return given

    found["plain"] = reward(*texts)
    found["in blocks"] = reward(
        *([{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in texts)
    )
    calls = [{"name": "write_file", "arguments": {"name": "a.py", "code": code}} for code in asked["codes"][:2]]
    found["tool calls"] = reward(
        *(
            [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": each}]}]
            for each in calls
        )
    )
    found["no content"] = reward([{"role": "assistant", "content": None}])
    found["unknown task"] = error_of(reward, "", task="no-such-task")

    samples = [f"{called('write_file', name='a.py', code=code)}\n{called('evaluate')}" for code in asked["codes"]]
    samples += ["I do not know.", called("finish")]
    found["environment"] = step(folder, samples, environment_factory=lambda: JudgedConversation(judge))
    found["sessions"] = judge.health()["sessions"]
    found["environment, no judge"] = step(folder, samples, environment_factory=lambda: JudgedConversation(nobody))

    public = [each for name, each in vars(JudgedConversation).items() if not name.startswith("_")]
    found["tools"] = [get_json_schema(each) for each in public if each.__name__ not in ("reset", "get_reward")]
    own_prompt = JudgedConversation(judge)
    text = own_prompt.reset(task="add-relu")
    rows = prompt_rows(judge, split="train", protocol="tools")
    found["prompts"] = [len(rows), rows[0]["task"], text == "\n\n".join(each["content"] for each in rows[0]["prompt"])]
    found["no task"] = error_of(own_prompt.reset)
    own_prompt.get_reward()
    tell(**found)


if __name__ == "__main__":
    main()
