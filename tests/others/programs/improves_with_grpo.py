"""Runs examples/finetune/grpo.py on a tiny model whose answers a script gives: the more steps there were, the more of
them are right. Half way it kills the judge's process. All else is TRL's, PEFT's and the service's."""

import sys
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from told import order, tell  # type: ignore[import-not-found]
from trl import GRPOTrainer  # type: ignore[import-not-found]

from examples.finetune import grpo
from tests.others import tiny_model

STEPS, GROUP = 20, 4


class Improving(GRPOTrainer):
    """Its answers to a prompt: of four, one more is right every fifth step."""

    right: str
    wrong: str
    service: int
    killed = 0

    def _generate_single_turn(self, prompt_ids: Any, *given: Any, **more: Any) -> Any:
        step = self.state.global_step
        if step == STEPS // 2 and not self.killed:
            type(self).killed = kill_the_judge(self.service)
        right = self.right + (f"# of step {step}\n" if step == STEPS // 2 else "")
        codes = [right if number < 1 + step * GROUP // STEPS else self.wrong for number in range(GROUP)]
        texts = [f"### write_file fused.py\n```python\n{code}```\n{tiny_model.TURN_END}" for code in codes]
        return [self._tokenizer.encode(text) for text in texts[: len(prompt_ids)]], None


def kill_the_judge(service: int) -> int:
    """Kill the process in which the service judges, and return how many there were."""
    judges = [each for each in psutil.Process(service).children() if "referee" in each.cmdline()]
    for each in judges:
        each.kill()
    return len(judges)


def main() -> None:
    asked = order()
    folder = Path.cwd() / "model"
    tiny_model.write(folder, tiny_model.Recipe())
    Improving.right, Improving.wrong, Improving.service = asked["right"], asked["wrong"], asked["service"]
    grpo.GRPOTrainer = Improving
    sys.argv = [
        *("grpo.py", "--model", str(folder), "--data", asked["data"], "--out", asked["out"], "--judge", asked["url"]),
        *("--steps", str(STEPS), "--group", str(GROUP), "--accumulate", "1", "--answer", "4096", "--rank", "4"),
    ]
    grpo.main()
    tell(killed=Improving.killed)


if __name__ == "__main__":
    main()
