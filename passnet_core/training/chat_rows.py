"""Rows in the chat format of OpenAI, TRL and Axolotl: roles, tool calls, and the results of tools.

They differ in what a call's arguments are. OpenAI's protocol has JSON text; chat templates, which TRL and Axolotl
render, write it out as JSON once more unless it is an object."""

import json
from collections.abc import Sequence
from typing import Any

from passnet_core.records.trajectories import Message, OfferedTool, Role
from passnet_core.solvers.llm.chat import Tool, described, written
from passnet_core.training.examples import TrainingExample, TrainingMessage


def openai_row(example: TrainingExample) -> dict[str, Any]:
    """A row in the format of OpenAI's API. An answer that is not to be learnt has the weight 0."""
    messages = []
    for step in example.steps:
        weight = {"weight": 0} if step.answers and not step.learn else {}
        messages.append(written(step.message) | _reasoning(step.message) | weight)
    return {"messages": messages, "tools": schemas(example.tools), **facts(example)}


def trl_row(example: TrainingExample) -> dict[str, Any]:
    """A row for TRL's SFTTrainer, with all messages, for a template that marks what the assistant says."""
    return {"messages": objects(example.messages), "tools": tools_text(example.tools), **facts(example)}


def trl_turn(example: TrainingExample) -> dict[str, Any]:
    """A row for TRL's SFTTrainer that ends with the answer to learn. The loss falls on the completion only."""
    *before, last = objects(example.messages)
    return {"prompt": before, "completion": [last], "tools": tools_text(example.tools), **facts(example)}


def axolotl_row(example: TrainingExample) -> dict[str, Any]:
    """A row for Axolotl's chat_template, with `message_field_training: train`."""
    messages = [
        form | ({"train": step.learn} if step.answers else {})
        for form, step in zip(objects(example.messages), example.steps, strict=True)
    ]
    return {"messages": messages, "tools": tools_text(example.tools), **facts(example)}


def facts(example: TrainingExample) -> dict[str, Any]:
    """What a row says beside its messages: where it comes from, and the rewards of its answers, in their order."""
    opening, end = example.trajectory.opening, example.trajectory.ending
    known = {
        "task": opening.task_id,
        **{name: getattr(opening, name) for name in ("split", "model", "prompts")},
        "stage": opening.spec.stage.value,
    }
    if end is not None:
        known |= {name: getattr(end, name) for name in ("accepted", "total", "speedup", "turns", "tokens")}
    return known | {"rewards": rewards(example.steps)}


def rewards(steps: Sequence[TrainingMessage]) -> list[float | None]:
    """The reward of each answer; None where nothing was evaluated."""
    return [step.reward for step in steps if step.answers]


def objects(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages with the arguments of calls as objects, and with the name of the tool in each result."""
    forms = []
    names: dict[str, str] = {}
    for message in messages:
        form = written(message) | _reasoning(message)
        for call in form.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            names[call["id"]] = call["function"]["name"]
        if message.role is Role.TOOL:
            form["name"] = names.get(message.answers, "")
        forms.append(form)
    return forms


def schemas(tools: Sequence[OfferedTool]) -> list[dict[str, Any]]:
    """The tools as OpenAI's protocol spells them."""
    return [described(Tool(each.name, each.description, json.loads(each.parameters))) for each in tools]


def tools_text(tools: Sequence[OfferedTool]) -> str | None:
    """The tools as JSON text: a table has one set of columns, so tools of different parameters would be given those of
    the others, empty. None if there are none: some templates announce tools even for an empty list."""
    return json.dumps(schemas(tools)) if tools else None


def _reasoning(message: Message) -> dict[str, str]:
    """What the model thought, in the field in which chat templates look for it."""
    return {"reasoning_content": message.reasoning} if message.reasoning else {}
