"""Prompts without answers, with what a reward needs, for reinforcement learning as in GRPO.

A prompt says how its answer is read: calls in plain text, for answers that are complete in themselves, or tool calls,
for conversations in which the tools answer.

A row is one for TRL, whose trainers pass all columns to the reward, and one for verl, which reads `reward_model` and
`extra_info`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from passnet_core.corpus.shapes import Shapes, shapes_in
from passnet_core.records import Environment, EvalSpec, Task, digest_of, to_json
from passnet_core.records.trajectories import Message, OfferedTool, Trajectory
from passnet_core.solvers.base import Surroundings
from passnet_core.solvers.llm.chat import offered, written
from passnet_core.solvers.llm.conversation import guide
from passnet_core.solvers.llm.prompting import first_of_sources, how_to_call, opening
from passnet_core.solvers.llm.tools import TOOLS
from passnet_core.solvers.llm.wire import readable
from passnet_core.training.chat_rows import tools_text
from passnet_core.training.examples import offers

DATA_SOURCE = "passnet"
ABILITY = "compiler passes"


class CallProtocol(StrEnum):
    """How a prompt tells a model to call tools."""

    TEXT = "text"
    TOOLS = "tools"


@dataclass(frozen=True)
class Prompt:
    """The first messages of a conversation about a task. tools: as in TrainingExample. spec: how bundles are judged."""

    task: str
    split: str
    messages: tuple[Message, ...]
    tools: tuple[OfferedTool, ...]
    spec: EvalSpec

    @property
    def protocol(self) -> CallProtocol:
        return CallProtocol.TOOLS if self.tools else CallProtocol.TEXT


def prompts(found: Iterable[Trajectory], protocol: CallProtocol = CallProtocol.TEXT) -> Iterator[Prompt]:
    """The prompts of these conversations under this protocol, each once. One whose older words about calls in plain
    text cannot be taken out of it keeps them, and its protocol."""
    seen: set[str] = set()
    for each in found:
        began, first = each.opening, each.turns[0]
        tools = (began.tools or tuple(map(offered, TOOLS))) if offers(each)[0] else ()
        prompt = _under(protocol, Prompt(began.task_id, began.split, tuple(readable(first.said)), tools, began.spec))
        key = digest_of(to_json(prompt))
        if key not in seen:
            seen.add(key)
            yield prompt


def _under(protocol: CallProtocol, prompt: Prompt) -> Prompt:
    first, *others = prompt.messages
    how = "\n" + how_to_call(TOOLS)
    if prompt.protocol is protocol:
        return prompt
    if protocol is CallProtocol.TEXT:
        return replace(prompt, messages=(replace(first, text=first.text + how), *others), tools=())
    if not first.text.endswith(how):
        return prompt
    first = replace(first, text=first.text.removesuffix(how))
    return replace(prompt, messages=(first, *others), tools=tuple(map(offered, TOOLS)))


def prompts_for(
    tasks: Iterable[Task], spec: EvalSpec, protocol: CallProtocol = CallProtocol.TEXT, shapes: Shapes | None = None
) -> Iterator[Prompt]:
    """A prompt for each task, without the figures of the machine, which only a judge can tell. shapes: inside the
    subgraphs, as far as they are known."""
    tools = tuple(map(offered, TOOLS)) if protocol is CallProtocol.TOOLS else ()
    for task in tasks:
        messages = first_messages(task, spec, protocol, shapes or {})
        yield Prompt(task.id, task.split, tuple(readable(messages)), tools, spec)


def first_messages(
    task: Task, spec: EvalSpec, protocol: CallProtocol, shapes: Shapes, environment: Environment | None = None
) -> tuple[Message, ...]:
    """What a model is told first about a task. It asks no judge, so that it is always the same. environment: of the
    machine that judges, if it is known."""
    surroundings = Surroundings(spec.device, environment, shapes_in(first_of_sources(task.subgraphs), shapes))
    return opening(task, surroundings, guide(), TOOLS if protocol is CallProtocol.TEXT else ())


def prompt_row(prompt: Prompt, index: int) -> dict[str, Any]:
    """A row of prompts. index: its place in the file."""
    spec = {name: to_json(getattr(prompt.spec, name)) for name in ("stage", "device", "capture", "profile", "baseline")}
    needed = {"task": prompt.task, "split": prompt.split, **spec, "protocol": prompt.protocol.value}
    needed["tools"] = tools_text(prompt.tools)
    return {
        "prompt": [written(message) for message in prompt.messages],
        **needed,
        "data_source": DATA_SOURCE,
        "ability": ABILITY,
        "reward_model": {"style": "rule", "ground_truth": prompt.task},
        "extra_info": {"index": index, **needed},
    }
