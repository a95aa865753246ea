"""Pairs of a chosen and a rejected answer to the same prompt, for DPO and its kin.

A pair is valid only if both answers can follow the very same messages, and the judge has evaluated the bundle of each.
Two sources give such pairs:

- *attempts*: two answers that models gave to the same messages, in attempts at a task or in branches of a conversation.
- *repair*: a later turn of the same conversation was accepted where this one was not. Its answer follows other
  messages, so it is not taken as it stands: the rejected answer is written once more with calls that write the accepted
  files whole. Its words stay the same, so that they cancel out between the two. The calls are replayed, and the pair is
  dropped unless they lead to the very bundle that was accepted."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passnet_core.records import Bundle
from passnet_core.records.trajectories import Message, OfferedTool, Score, ToolCall, Trajectory, Turn
from passnet_core.solvers.llm.files import BundleFiles, ToolProblem
from passnet_core.solvers.llm.tools import replay
from passnet_core.solvers.llm.wire import readable
from passnet_core.training.chat_rows import objects, schemas, tools_text
from passnet_core.training.examples import example_of, is_mistake, offers

ATTEMPTS, REPAIR = "attempts", "repair"


@dataclass(frozen=True)
class PreferencePair:
    """Two answers to the same messages. source: ATTEMPTS or REPAIR. task: its name. accepted: on how many of `total`
    subgraphs the bundles of the chosen and of the rejected answer were."""

    prompt: tuple[Message, ...]
    chosen: Message
    rejected: Message
    tools: tuple[OfferedTool, ...]
    source: str
    task: str
    accepted: tuple[int, int]
    total: int


def pairs(found: Sequence[Trajectory], at_least: float = 1.0) -> Iterator[PreferencePair]:
    """All pairs that these conversations have, each once. at_least: the share of subgraphs on which the chosen bundle
    was accepted; the rejected one was accepted on fewer than that, and than the chosen one."""
    seen: set[tuple[str, tuple[Message, ...], Message, Message]] = set()
    for pair in (*_of_attempts(found, at_least), *(each for one in found for each in _repaired(one, at_least))):
        key = (pair.task, pair.prompt, pair.chosen, pair.rejected)
        if key not in seen:
            seen.add(key)
            yield pair


def pair_row(pair: PreferencePair) -> dict[str, Any]:
    """A row for TRL's DPOTrainer: a conversation, and two ways in which it goes on."""
    *prompt, chosen = objects((*pair.prompt, pair.chosen))
    (rejected,) = objects((pair.rejected,))
    return {
        "prompt": prompt,
        "chosen": [chosen],
        "rejected": [rejected],
        "tools": tools_text(pair.tools),
        "source": pair.source,
        "task": pair.task,
        "accepted": list(pair.accepted),
        "total": pair.total,
    }


def _of_attempts(found: Iterable[Trajectory], at_least: float) -> Iterator[PreferencePair]:
    """For each prompt that got several answers: every rejected one beside the best."""
    answered: dict[tuple[str, str, str], list[tuple[Turn, Score, Trajectory, int]]] = defaultdict(list)
    for each in found:
        with_tools = offers(each)
        for number, turn in enumerate(each.turns):
            if turn.score is not None and _as_said(turn.answer):
                prompt = json.dumps([_plain(message) for message in _before(each, number)])
                tools = json.dumps(schemas(_tools(each))) if with_tools[number] else ""
                answered[each.opening.task_id, prompt, tools].append((turn, turn.score, each, number))
    for (task, _, tools), answers in answered.items():
        best, top, of, number = max(answers, key=lambda each: each[1].order)
        if top.accepted < max(at_least, 1e-9) * top.total or is_mistake(best, at_least):
            continue
        for turn, score, _, _ in answers:
            if score.accepted < max(at_least, 1e-9) * score.total and score.accepted < top.accepted:
                offered = _tools(of) if tools else ()
                accepted = (top.accepted, score.accepted)
                yield PreferencePair(
                    _before(of, number), best.answer, turn.answer, offered, ATTEMPTS, task, accepted,
                    top.total,
                )  # fmt: skip


def _repaired(trajectory: Trajectory, at_least: float) -> Iterator[PreferencePair]:
    """For each turn whose bundle was rejected: that answer, and the one that writes the best later bundle."""
    if trajectory.opening.start is not None:
        return  # the files that a conversation started from are known only by their digest
    with_tools = offers(trajectory)
    for number, turn in enumerate(trajectory.turns):
        score = turn.score
        if score is None or score.accepted >= max(at_least, 1e-9) * score.total or not with_tools[number]:
            continue
        later = [each for each in trajectory.turns[number + 1 :] if each.score is not None and each.bundle is not None]
        better = max(later, key=lambda each: each.score.order if each.score else (0, 0.0), default=None)
        if better is None or better.bundle is None or better.score is None or is_mistake(better, at_least):
            continue
        answer = _rewritten(trajectory.turns[:number], turn.answer, better.bundle)
        if answer is not None and better.score.accepted > score.accepted and _as_said(turn.answer):
            yield PreferencePair(
                _before(trajectory, number), answer, replace(turn.answer, reasoning=""), _tools(trajectory), REPAIR,
                trajectory.opening.task_id, (better.score.accepted, score.accepted), score.total,
            )  # fmt: skip


def _rewritten(before: Sequence[Turn], answer: Message, wanted: Bundle) -> Message | None:
    """The answer with calls that write these files in place of those that change files, or None if it changes none, or
    if the files would not be the wanted ones when it evaluates."""
    files = BundleFiles()
    for turn in before:
        for call in turn.answer.calls:
            replay(files, call)
    edits = [call for call in answer.calls if call.name in files.changes]
    others = [call for call in answer.calls if call.name not in files.changes]
    if not edits:
        return None
    writing = [
        ToolCall(f"{edits[0].id}_{number}" if number else edits[0].id, "write_file", json.dumps(arguments))
        for number, arguments in enumerate(
            {"name": file.name, "code": file.code} for file in wanted.files if files.codes.get(file.name) != file.code
        )
    ]
    for call in writing:
        replay(files, call)
    try:
        same = bool(writing) and files.bundle(wanted.author).digest == wanted.digest
    except ToolProblem:
        return None
    return replace(answer, calls=(*writing, *others), reasoning="") if same else None


def _before(trajectory: Trajectory, number: int) -> tuple[Message, ...]:
    """The messages that turn `number`, from 0, answers."""
    turns = trajectory.turns
    earlier = [message for turn in turns[:number] for message in (*turn.said, turn.answer)]
    return tuple(readable([*earlier, *turns[number].said]))


def _as_said(answer: Message) -> bool:
    return readable([answer]) == [answer]


def _tools(trajectory: Trajectory) -> tuple[OfferedTool, ...]:
    return example_of(trajectory).tools


def _plain(message: Message) -> list[Any]:
    """What a model is shown of a message. Ids of calls are not: servers draw them."""
    calls = [[call.name, call.arguments] for call in message.calls]
    return [message.role.value, message.text, calls]
