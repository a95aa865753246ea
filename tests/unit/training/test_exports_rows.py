"""The rows of each format: arguments, tools, masks and order of messages as its readers want them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.errors import BadInput
from passnet_core.records.trajectories import Message, Role
from passnet_core.training.card import MARK, card, write_card
from passnet_core.training.exporting import CHAT_FORMS, Exported, ExportLayout, Format, Rows, exported, write_rows
from passnet_core.training.llamafactory import INFO
from passnet_core.training.preferences import ATTEMPTS, REPAIR
from tests.unit.training.made_conversations import (
    RIGHT,
    WRONG,
    conversation,
    in_plain_text,
    never_right,
    repaired,
    right_at_once,
    turns_of,
    wrote,
)


def rows(format: Format, *found: Any, **layout: Any) -> list[dict[str, Any]]:
    return exported(found, ExportLayout(format, **layout)).rows


def test_openai_has_arguments_as_text_and_a_weight_of_nothing_for_mistakes() -> None:
    (row,) = rows(Format.OPENAI, repaired())
    answers = [message for message in row["messages"] if message["role"] == "assistant"]
    assert [message.get("weight") for message in answers] == [0, None, None]
    assert all(isinstance(call["function"]["arguments"], str) for each in answers for call in each["tool_calls"])
    assert {tool["function"]["name"] for tool in row["tools"]} >= {"write_file", "evaluate"}
    assert row["rewards"] == [0.0, 1.0, None]
    (row,) = rows(Format.OPENAI, repaired(), masks=False)
    assert all("weight" not in message for message in row["messages"])


def test_trl_has_a_row_for_each_answer_to_learn_with_arguments_as_objects() -> None:
    first, second = rows(Format.TRL, repaired())
    assert first["completion"][0]["tool_calls"][0]["function"]["arguments"] == {
        "name": "a.py", "old": "+ 1", "new": "+ 2",
    }  # fmt: skip
    assert [message["role"] for message in first["prompt"]] == ["system", "user", "assistant", "tool", "tool"]
    assert [message["name"] for message in first["prompt"][3:]] == ["write_file", "evaluate"]
    assert second["completion"][0]["tool_calls"][0]["function"] == {"name": "finish", "arguments": {}}
    assert json.loads(first["tools"])[0]["function"]["name"] == "write_file"
    assert rows(Format.TRL, in_plain_text())[0]["tools"] is None


def test_axolotl_says_of_every_answer_whether_to_train() -> None:
    (row,) = rows(Format.AXOLOTL, repaired())
    assert [message.get("train") for message in row["messages"] if message["role"] == "assistant"] == [
        False,
        True,
        True,
    ]
    assert all("train" not in message for message in row["messages"] if message["role"] != "assistant")


def test_llamafactory_has_what_it_wants_at_odd_and_even_places() -> None:
    for found in (repaired(), in_plain_text(), right_at_once()):
        for row in rows(Format.LLAMAFACTORY, found):
            said = [turn["from"] for turn in row["conversations"]]
            assert set(said[0::2]) <= {"human", "observation"}
            assert set(said[1::2]) <= {"gpt", "function_call"}
            assert len(said) % 2 == 0
    row = rows(Format.LLAMAFACTORY, repaired())[0]
    words, _, calls = row["conversations"][-1]["value"].partition("<tool_call>")
    assert words == "The constant was wrong.\n"
    assert json.loads(calls.removesuffix("</tool_call>"))[0]["arguments"]["new"] == "+ 2"
    assert row["system"] == "You write passes."
    assert "wrong values" in row["conversations"][2]["value"]
    assert rows(Format.LLAMAFACTORY, in_plain_text())[0]["tools"] == ""


def test_llamafactory_is_told_of_a_file_and_keeps_what_it_knew(tmp_path: Path) -> None:
    (tmp_path / INFO).write_text('{"mine": {"file_name": "mine.json"}}')
    write_rows(tmp_path / "passes.jsonl", rows(Format.LLAMAFACTORY, repaired()), Format.LLAMAFACTORY)
    info = json.loads((tmp_path / INFO).read_text())
    assert list(info) == ["mine", "passes"]
    assert info["passes"]["file_name"] == "passes.jsonl"
    (tmp_path / INFO).write_text("{")
    with pytest.raises(BadInput, match="cannot be extended"):
        write_rows(tmp_path / "passes.jsonl", [], Format.LLAMAFACTORY)


def test_verl_has_words_only_and_leaves_out_what_it_would_learn_by_mistake(tmp_path: Path) -> None:
    made = exported((repaired(), right_at_once()), ExportLayout(Format.VERL))
    (row,) = made.rows
    assert sum(made.left_out.values()) == 1
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    system, _, answer, results, _ = (message["content"] for message in row["messages"])
    assert '"name": "write_file"' in system
    call = json.loads(answer.split("<tool_call>\n")[1].split("\n</tool_call>")[0])
    assert call == {"name": "write_file", "arguments": {"name": "a.py", "code": RIGHT}}
    assert results.count("<tool_response>") == 2
    assert len(rows(Format.VERL, repaired(), masks=False)) == 1
    with pytest.raises(BadInput, match="cannot be a turn"):
        exported((right_at_once(),), ExportLayout(Format.VERL, rows=Rows.TURNS))
    with pytest.raises(BadInput, match=r"verl reads \.parquet"):
        write_rows(tmp_path / "a.jsonl", made.rows, Format.VERL)
    with pytest.raises(BadInput, match=r"openai reads \.jsonl"):
        write_rows(tmp_path / "a.parquet", made.rows, Format.OPENAI)


@pytest.mark.parametrize("format", CHAT_FORMS)
def test_every_chat_format_writes_every_kind_of_conversation(format: Format) -> None:
    thinking = replace(wrote(RIGHT), reasoning="I add two.")
    thought = conversation("thought", turns_of([(thinking, ("Wrote.", "right"), RIGHT, 2)]))
    found = [right_at_once(), in_plain_text(), thought]
    made = exported(found, ExportLayout(format, rows=Rows.CONVERSATIONS))
    assert len(made.rows) == 3
    assert not made.left_out
    assert json.loads(json.dumps(made.rows)) == made.rows
    split = exported(found, ExportLayout(format, rows=Rows.CONVERSATIONS, one_call_per_turn=True))
    for row in split.rows:
        for message in row.get("messages", ()):
            assert len(message.get("tool_calls", [0])) == 1
            assert message["content"].count('<tool_call>\n{"name": "w') <= 1


@pytest.mark.parametrize("format", [Format.TRL, Format.LLAMAFACTORY, Format.VERL])
def test_a_format_without_masks_leaves_out_whole_conversations_with_mistakes(format: Format) -> None:
    made = exported((repaired(),), ExportLayout(format, rows=Rows.CONVERSATIONS))
    assert made.rows == []
    assert list(made.left_out.values()) == [1]


def test_a_repaired_turn_makes_a_pair_whose_answers_differ_in_the_calls_alone() -> None:
    (row,) = rows(Format.PREFERENCES, repaired())
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    (chosen,), (rejected,) = row["chosen"], row["rejected"]
    assert chosen["content"] == rejected["content"] == "Let me see."
    assert chosen["tool_calls"][0]["function"]["arguments"] == {"name": "a.py", "code": RIGHT}
    assert rejected["tool_calls"][0]["function"]["arguments"] == {"name": "a.py", "code": WRONG}
    assert [call["function"]["name"] for call in chosen["tool_calls"]] == ["write_file", "evaluate"]
    assert (row["source"], row["accepted"], row["total"]) == (REPAIR, [2, 0], 2)


def test_two_attempts_that_answer_the_same_messages_make_a_pair() -> None:
    row, *others = rows(Format.PREFERENCES, never_right("one"), right_at_once("one"))
    assert not others
    assert (row["source"], row["accepted"]) == (ATTEMPTS, [2, 1])
    assert row["chosen"][0]["tool_calls"][0]["function"]["arguments"]["code"] == RIGHT
    other_prompt = tuple(
        replace(turn, said=(Message(Role.USER, "Another task."),)) if not number else turn
        for number, turn in enumerate(right_at_once().turns)
    )
    other = replace(right_at_once("one"), turns=other_prompt)
    assert rows(Format.PREFERENCES, never_right("one"), other) == []
    assert rows(Format.PREFERENCES, never_right("one"), right_at_once("two")) == []


def test_a_pair_is_dropped_if_its_calls_would_not_give_the_accepted_bundle() -> None:
    other = wrote("x = 1\n", number=7)
    helper = replace(other, calls=(replace(other.calls[0], arguments='{"name": "b.py", "code": "x = 1"}'),))
    rest = repaired().turns
    # a file that the accepted bundle lacks was there before: it would stay
    first = turns_of([(helper, ("Wrote b.py: a helper.",), None, None)])
    assert rows(Format.PREFERENCES, conversation("helper", (*first, *rest))) == []
    assert rows(Format.PREFERENCES, repaired(start="a digest")) == []


def test_prompts_are_told_once_with_what_a_reward_needs() -> None:
    found = [repaired("one"), right_at_once("one"), never_right("two")]
    first, second = rows(Format.PROMPTS, *found)
    assert [message["role"] for message in first["prompt"]] == ["system", "user"]
    assert (first["task"], first["stage"], second["task"]) == ("one", "verify", "two")
    assert first["reward_model"]["ground_truth"] == first["extra_info"]["task"] == "one"
    assert second["extra_info"]["index"] == 1


def test_a_row_that_is_too_long_is_left_out_and_counted() -> None:
    made = exported((repaired(),), ExportLayout(Format.TRL, count=lambda row: len(row["prompt"]), most_tokens=5))
    (row,) = made.rows
    assert row["tokens"] == len(row["prompt"])
    assert dict(made.left_out) == {"it has more tokens than --most-tokens allows": 1}


def test_the_card_counts_and_replaces_only_itself(tmp_path: Path) -> None:
    found = (repaired("one"), in_plain_text())
    made = exported(found, ExportLayout(Format.AXOLOTL))
    text = card(
        {"a.jsonl": (found, made), "a.validation.jsonl": ((), Exported())},
        format=Format.AXOLOTL,
        hint="Set this.",
        filters=["Of one kind."],
        version="1.2",
        date="2026-11-02",
        license="mit",
    )
    assert text.startswith("---\nlicense: mit\n")
    assert "| a.jsonl | 2 | 2 | 2 | 4, 1 |" in text
    assert "split: validation\n        path: a.validation.jsonl" in text
    assert "a model (2)" in text
    file = write_card(tmp_path, text)
    assert MARK in write_card(tmp_path, text).read_text()
    file.write_text("Mine.")
    with pytest.raises(BadInput, match="no data set card"):
        write_card(tmp_path, text)
    assert file.read_text() == "Mine."
