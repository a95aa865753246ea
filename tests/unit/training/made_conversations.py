"""Conversations about compiler passes, for tests of exports."""

import json
from collections.abc import Sequence
from dataclasses import replace

from passnet_core.records import Bundle, EvalSpec, PassFile, Stage, Verdict
from passnet_core.records.trajectories import (
    DEFAULT_BUDGET,
    FREE,
    End,
    Ending,
    Message,
    Opening,
    Role,
    Score,
    ToolCall,
    Trajectory,
    Turn,
)
from passnet_core.solvers.llm.chat import offered
from passnet_core.solvers.llm.tools import TOOLS, told_results

WRONG = "def pattern(x):\n    return x + 1\n"
RIGHT = "def pattern(x):\n    return x + 2\n"
RIGHT_IN_OTHER_WORDS = '"""Adds."""\n\n\ndef pattern(x):\n    return (x + 2)  # two\n'
FIRST = (Message(Role.SYSTEM, "You write passes."), Message(Role.USER, "The task."))


def opening(name: str, **changes: object) -> Opening:
    made = Opening(
        id=f"id-{name}",
        task_id=name,
        split="train",
        operators=("add",),
        subgraphs=(f"{name}-0", f"{name}-1"),
        model="a model",
        prompts="digest",
        spec=EvalSpec(Stage.VERIFY),
        budget=DEFAULT_BUDGET,
        price=FREE,
        started_at="2026-11-01T10:00:00+00:00",
        device="a device",
        tools=tuple(map(offered, TOOLS)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def wrote(code: str, words: str = "Let me see.", *, number: int = 1) -> Message:
    calls = (
        ToolCall(f"call_{number}a", "write_file", json.dumps({"name": "a.py", "code": code})),
        ToolCall(f"call_{number}b", "evaluate", "{}"),
    )
    return Message(Role.MODEL, words, calls)


def patched(old: str, new: str, *, number: int = 2) -> Message:
    edit = json.dumps({"name": "a.py", "old": old, "new": new})
    return Message(
        Role.MODEL,
        "The constant was wrong.",
        (ToolCall(f"call_{number}a", "patch_file", edit), ToolCall(f"call_{number}b", "evaluate", "{}")),
    )


def finished(number: int = 3) -> Message:
    return Message(Role.MODEL, "That is all.", (ToolCall(f"call_{number}", "finish", "{}"),))


def bundle(code: str) -> Bundle:
    return Bundle((PassFile("a.py", code),))


def turns_of(
    said: Sequence[tuple[Message, tuple[str, ...], str | None, int | None]],
    first: tuple[Message, ...] = FIRST,
    *,
    in_text: bool = False,
    known: bool = True,
) -> tuple[Turn, ...]:
    """The turns of a conversation. said: each answer, the results of its calls, the code of the bundle that it
    evaluates, and on how many of two subgraphs that was accepted. known: whether the record says what was offered."""
    turns: list[Turn] = []
    fresh = first
    for number, (answer, results, code, accepted) in enumerate(said, 1):
        judged = accepted is not None
        right, wrong = (Verdict.VALUES_ONLY, accepted or 0), (Verdict.WRONG_VALUES, 2 - (accepted or 0))
        verdicts = tuple(each for each in (right, wrong) if each[1]) if judged else None
        turns.append(
            Turn(
                number=number,
                said=fresh,
                answer=answer,
                results=results,
                bundle=None if code is None else bundle(code),
                score=None if accepted is None else Score(accepted, 2),
                prompt_tokens=100,
                reply_tokens=10,
                cost=0.0,
                seconds=1.0,
                prompts="digest",
                offered=not in_text if known else None,
                verdicts=verdicts if known else None,
            )
        )
        calls = answer.calls if not in_text else tuple(ToolCall("", "write_file", "{}") for _ in results)
        fresh = told_results(calls, results, in_text=in_text)
    return tuple(turns)


def conversation(name: str, turns: tuple[Turn, ...], **changes: object) -> Trajectory:
    best = max((turn for turn in turns if turn.score), key=lambda turn: turn.score.order, default=None)  # type: ignore[union-attr]
    accepted = best.score.accepted if best and best.score else 0
    verdict = Verdict.VALUES_ONLY if accepted == 2 else Verdict.WRONG_VALUES
    ending = Ending(
        end=End.FINISHED,
        reason="",
        turns=len(turns),
        tokens=110 * len(turns),
        cost=0.0,
        accepted=accepted,
        total=2,
        speedup=None,
        verdicts=((verdict, 2),),
        best=best.bundle.digest if best and best.bundle else None,
    )
    return Trajectory(opening(name, **changes), turns, ending)


def repaired(name: str = "repaired", **changes: object) -> Trajectory:
    """A wrong bundle, the right one by a patch, and the end."""
    return conversation(
        name,
        turns_of(
            [
                (wrote(WRONG), ("Wrote a.py: a pass.", "wrong values"), WRONG, 0),
                (patched("+ 1", "+ 2"), ("Changed a.py.", "right, not timed"), RIGHT, 2),
                (finished(), ("The conversation has ended.",), None, None),
            ]
        ),
        **changes,
    )


def right_at_once(name: str = "right", code: str = RIGHT, **changes: object) -> Trajectory:
    """The right bundle in the first answer, and the end."""
    return conversation(
        name,
        turns_of(
            [
                (wrote(code), ("Wrote a.py: a pass.", "right, not timed"), code, 2),
                (finished(2), ("The conversation has ended.",), None, None),
            ]
        ),
        **changes,
    )


def never_right(name: str = "failed", **changes: object) -> Trajectory:
    return conversation(
        name,
        turns_of(
            [
                (wrote(WRONG), ("Wrote a.py: a pass.", "wrong values"), WRONG, 1),
                (finished(2), ("The conversation has ended.",), None, None),
            ]
        ),
        **changes,
    )


def in_plain_text(name: str = "plain") -> Trajectory:
    """A model that calls tools in plain text."""
    system = Message(Role.SYSTEM, "You write passes. Call a tool by writing a heading.")
    answer = Message(Role.MODEL, f"### write_file a.py\n```python\n{RIGHT}```\n\n### evaluate\n")
    end = Message(Role.MODEL, "### finish\n")
    said = [
        (answer, ("Wrote a.py: a pass.", "right, not timed"), RIGHT, 2),
        (end, ("The conversation has ended.",), None, None),
    ]
    turns = turns_of(said, (system, FIRST[1]), in_text=True)
    return conversation(name, turns, tools=())
