"""Which answers of a conversation are worth learning, and how an example is cut into others."""

from dataclasses import replace

import pytest

from passnet_core.records import Verdict
from passnet_core.records.trajectories import End, Message, Role, ToolCall, Trajectory
from passnet_core.solvers.llm.conversation import CUT_OFF
from passnet_core.solvers.llm.prompting import how_to_call
from passnet_core.solvers.llm.tools import NUDGE, TOOLS
from passnet_core.training.examples import by_turns, example_of, one_call_per_turn, unmasked, until_learnt
from tests.unit.training.made_conversations import (
    FIRST,
    RIGHT,
    conversation,
    finished,
    in_plain_text,
    never_right,
    repaired,
    right_at_once,
    turns_of,
    wrote,
)


def learnt(trajectory: Trajectory, at_least: float = 1.0) -> list[bool]:
    return [step.learn for step in example_of(trajectory, at_least).steps if step.answers]


def test_an_answer_that_the_judge_rejected_is_not_learnt_and_its_repair_is() -> None:
    assert learnt(repaired()) == [False, True, True]
    assert learnt(right_at_once()) == [True, True]


def test_to_give_up_is_not_learnt() -> None:
    assert learnt(never_right()) == [False, False]
    assert learnt(never_right(), at_least=0.5) == [True, True]


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        (
            Message(Role.MODEL, "", (ToolCall("1", "delete_file", '{"name": "b.py"}'),)),
            ("Not done: It is not there.",),
        ),
        (Message(Role.MODEL, "", (ToolCall("1", "check", "{}"),)), (CUT_OFF,)),
        (Message(Role.MODEL, "I am thinking."), ()),
        (Message(Role.MODEL, "", (ToolCall("1", "check", '{"half'),)), ("Wrote.",)),
        (Message(Role.MODEL, "", (ToolCall("1", "no such tool!", "{}"),)), ("Wrote.",)),
        (Message(Role.MODEL), ()),
    ],
    ids=["not done", "cut off", "no call", "garbled arguments", "garbled name", "empty"],
)
def test_an_answer_that_the_tools_turned_down_is_not_learnt(answer: Message, results: tuple[str, ...]) -> None:
    turns = turns_of([(answer, results, None, None), (wrote(RIGHT), ("Wrote.", "right"), RIGHT, 2)])
    assert learnt(conversation("odd", turns)) == [False, True]


def test_a_check_that_fails_is_not_learnt_and_one_that_says_nothing_of_the_bundle_is() -> None:
    checks = Message(Role.MODEL, "", (ToolCall("1", "check", "{}"),))
    turns = turns_of([(checks, ("checked",), None, None), (wrote(RIGHT), ("Wrote.", "right"), RIGHT, 2)])
    for verdict, worth in (
        (Verdict.NO_MATCH, False),
        (Verdict.REJECTED, False),
        (Verdict.MATCHED, True),
        (Verdict.NEEDS_GPU, True),
        (Verdict.INFRASTRUCTURE, True),
    ):
        judged = (replace(turns[0], verdicts=((verdict, 2),)), turns[1])
        assert learnt(conversation("checked", judged)) == [worth, True], verdict


def test_rewards_tell_what_the_judge_accepted_and_a_cheat_gets_none() -> None:
    steps = [step for step in example_of(repaired()).steps if step.answers]
    assert [step.reward for step in steps] == [0.0, 1.0, None]
    turns = right_at_once().turns
    cheats = (replace(turns[0], verdicts=((Verdict.CHEAT, 1), (Verdict.VALUES_ONLY, 1))), turns[1])
    assert example_of(conversation("cheat", cheats)).steps[2].reward == 0.0


def test_the_tools_are_those_that_were_offered() -> None:
    older = replace(right_at_once(), opening=replace(right_at_once().opening, tools=right_at_once().opening.tools[:2]))
    assert [tool.name for tool in example_of(older).tools] == ["write_file", "patch_file"]
    assert example_of(in_plain_text()).tools == ()


def test_a_record_that_does_not_say_what_was_offered_has_todays_tools_unless_calls_are_in_text() -> None:
    def forgotten(each: Trajectory) -> Trajectory:
        turns = tuple(replace(turn, offered=None, verdicts=None) for turn in each.turns)
        return replace(each, opening=replace(each.opening, tools=()), turns=turns)

    assert [tool.name for tool in example_of(forgotten(repaired())).tools] == [tool.name for tool in TOOLS]
    assert learnt(forgotten(repaired())) == [False, True, True]
    assert example_of(forgotten(in_plain_text())).tools == ()


def test_a_conversation_that_goes_on_in_text_is_an_example_without_tools() -> None:
    turns = in_plain_text().turns
    before = turns_of([(Message(Role.MODEL, "Which tools?"), (), None, None)])
    told = replace(turns[0], said=(Message(Role.USER, how_to_call(TOOLS)),))
    mixed = conversation("mixed", (*before, told, *turns[1:]))
    assert mixed.opening.tools
    example = example_of(mixed)
    assert example.tools == ()
    assert [step.learn for step in example.steps if step.answers] == [False, True, True]
    # and without masks too: nobody says this where no tools are offered
    assert [step.learn for step in unmasked(example).steps if step.answers] == [False, True, True]


def test_a_split_answer_keeps_every_call_with_its_result_and_says_its_words_once() -> None:
    example = one_call_per_turn(example_of(repaired()))
    roles = [step.message.role.value for step in until_learnt(example).steps]
    assert roles == ["system", "user", *["assistant", "tool"] * 4, "assistant"]
    answers = [step.message for step in example.steps if step.answers]
    assert [call.name for message in answers for call in message.calls] == [
        "write_file", "evaluate", "patch_file", "evaluate", "finish",
    ]  # fmt: skip
    assert [message.text for message in answers] == ["Let me see.", "", "The constant was wrong.", "", "That is all."]
    results = [step.message for step in example.steps if step.message.role is Role.TOOL]
    assert [message.answers for message in results] == [call.id for message in answers for call in message.calls]
    assert [step.learn for step in example.steps if step.answers] == [False, False, True, True, True]


def test_the_calls_of_the_last_answer_are_split_too() -> None:
    ends = Message(Role.MODEL, "", (*wrote(RIGHT).calls, *finished().calls))
    turns = turns_of([(ends, ("Wrote.", "right", "The end."), RIGHT, 2)])
    example = until_learnt(one_call_per_turn(example_of(conversation("at once", turns))))
    assert [len(step.message.calls) for step in example.steps] == [0, 0, 1, 0, 1, 0, 1]


def test_each_turn_ends_with_the_one_answer_to_learn() -> None:
    found = list(by_turns(example_of(repaired())))
    assert [each.learnt for each in found] == [1, 1]
    assert [each.steps[-1].learn for each in found] == [True, True]
    assert found[1].messages[: len(found[0].messages)] == found[0].messages


def test_what_follows_the_last_answer_to_learn_is_left_out() -> None:
    turns = repaired().turns[:2]
    worse = turns_of([(wrote("def pattern(x):\n    return x\n", number=9), ("Wrote.", "wrong"), RIGHT, 1)], ())
    example = until_learnt(example_of(conversation("worse", (*turns, *worse))))
    assert example.messages[-1].calls[0].name == "patch_file"


def test_messages_are_those_that_the_server_was_sent() -> None:
    note = Message(Role.USER, "A person says:\n\nUse two blocks.")
    turns = turns_of([(wrote(RIGHT), ("Wrote.", "right"), RIGHT, 2)], (*FIRST, note))
    messages = example_of(conversation("note", turns)).messages
    assert [message.role for message in messages[:3]] == [Role.SYSTEM, Role.USER, Role.MODEL]
    assert messages[1].text == "The task.\n\nA person says:\n\nUse two blocks."


def test_a_nudged_model_is_not_taught_to_wait_for_it() -> None:
    silent = Message(Role.MODEL, "Shall I?")
    turns = turns_of([(wrote(RIGHT), ("Wrote.", "right"), RIGHT, 2), (silent, (), None, None)])
    ended = conversation("nudged", turns)
    assert ended.ending is not None
    assert learnt(replace(ended, ending=replace(ended.ending, end=End.SILENT))) == [True, False]
    assert NUDGE not in [message.text for message in until_learnt(example_of(ended)).messages]
