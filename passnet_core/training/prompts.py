"""Prompts without answers, with what a reward needs, for reinforcement learning as in GRPO.

A row is one for TRL, whose trainers pass all columns to the reward, and one for verl, which reads `reward_model` and
`extra_info`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from passnet_core.records import EvalSpec, Task, digest_of, to_json
from passnet_core.records.trajectories import Message, OfferedTool, Trajectory
from passnet_core.solvers.base import Surroundings
from passnet_core.solvers.llm.chat import offered, written
from passnet_core.solvers.llm.conversation import guide
from passnet_core.solvers.llm.prompting import opening
from passnet_core.solvers.llm.tools import TOOLS
from passnet_core.solvers.llm.wire import readable
from passnet_core.training.chat_rows import tools_text
from passnet_core.training.examples import offers

DATA_SOURCE = "passnet"
ABILITY = "compiler passes"


@dataclass(frozen=True)
class Prompt:
    """The first messages of a conversation about a task. tools: as in TrainingExample. spec: how bundles are judged."""

    task: str
    split: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    spec: EvalSpec


def prompts(found: Iterable[Trajectory]) -> Iterator[Prompt]:
    """The prompts of these conversations, each once."""
    seen: set[str] = set()
    for each in found:
        began, first = each.opening, each.turns[0]
        tools = (began.tools or tuple(map(offered, TOOLS))) if offers(each)[0] else ()
        prompt = Prompt(began.task_id, began.split, tuple(readable(first.said)), tools, began.spec)
        key = digest_of(to_json(prompt))
        if key not in seen:
            seen.add(key)
            yield prompt


def prompts_for(tasks: Iterable[Task], spec: EvalSpec) -> Iterator[Prompt]:
    """A prompt for each task, as for a model that is offered tools, without what only a judge can tell: the shapes
    inside its subgraphs, and the figures of the machine."""
    pages = guide()
    for task in tasks:
        others = [name for name in pages if name != "contract"]
        messages = opening(task, Surroundings(spec.device), pages["contract"], others)
        yield Prompt(task.id, task.split, tuple(readable(messages)), tuple(map(offered, TOOLS)), spec)


def prompt_row(prompt: Prompt, index: int) -> dict[str, Any]:
    """A row of prompts. index: its place in the file."""
    spec = {name: to_json(getattr(prompt.spec, name)) for name in ("stage", "device", "capture", "profile", "baseline")}
    needed = {"task": prompt.task, "split": prompt.split, **spec, "tools": tools_text(prompt.tools)}
    return {
        "prompt": [written(message) for message in prompt.messages],
        **needed,
        "data_source": DATA_SOURCE,
        "ability": ABILITY,
        "reward_model": {"style": "rule", "ground_truth": prompt.task},
        "extra_info": {"index": index, **needed},
    }
