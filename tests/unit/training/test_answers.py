"""The bundle that the text of an answer writes, in whichever form a model writes it."""

import json
from typing import Any

import pytest

from passnet_core.errors import BadInput
from passnet_core.training.answers import bundle_in, bundle_in_messages

PASS = "def pattern(x):\n    return x\n"
CALL: dict[str, Any] = {"name": "write_file", "arguments": {"name": "fused.py", "code": PASS}}
BLOCK = f"```python\n{PASS}```\n"
FORMS = {
    "heading": f"### write_file fused.py\n{BLOCK}",
    "tool call": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
    "arguments as text": f"<tool_call>{json.dumps({**CALL, 'arguments': json.dumps(CALL['arguments'])})}</tool_call>",
    "block that names its file": f"```python\n# fused.py\n{PASS}```",
    "tildes": f"### write_file fused.py\n~~~\n{PASS}~~~\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "thought", ["", f"<think>\nMaybe:\n### write_file other.py\n{BLOCK}</think>\n", f"{BLOCK}</think>"]
)
def test_a_pass_is_found_in_every_form_and_never_in_what_was_thought(form: str, thought: str) -> None:
    for text in (thought + FORMS[form], (thought + FORMS[form]).replace("\n", "\r\n")):
        (found,) = bundle_in(text).files
        assert found.name == "fused.py"
        assert found.code.endswith(PASS)


def test_an_answer_that_is_cut_while_it_thinks_says_so() -> None:
    for text in (f"<think>\n{BLOCK}", f"<think>a</think>b<think>{BLOCK}"):
        with pytest.raises(BadInput, match="<think> is not closed"):
            bundle_in(text)


def test_what_the_model_was_told_is_none_of_its_answer() -> None:
    said: list[dict[str, Any]] = [
        {"role": "user", "content": f"### write_file other.py\n{BLOCK}"},
        {"role": "assistant", "content": [{"type": "text", "text": FORMS["heading"]}]},
        {"role": "tool", "content": BLOCK},
    ]
    assert [file.name for file in bundle_in_messages(said).files] == ["fused.py"]


@pytest.mark.parametrize("arguments", [CALL["arguments"], json.dumps(CALL["arguments"])], ids=["object", "JSON"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_a_models_tool_calls_count_whatever_it_thought_before_and_after(arguments: object, *, wrapped: bool) -> None:
    call = {"name": "write_file", "arguments": arguments}
    said: list[dict[str, Any]] = [
        {"role": "assistant", "content": "<think>a</think>", "tool_calls": [{"function": call} if wrapped else call]},
        {"role": "tool", "content": "Wrote fused.py: a pass."},
        {"role": "assistant", "content": f"<think>{BLOCK}</think>Done."},
    ]
    assert [(file.name, file.code) for file in bundle_in_messages(said).files] == [("fused.py", PASS)]


def test_code_in_a_tool_call_may_hold_the_words_that_end_one() -> None:
    code = f"{PASS}WORDS = '</tool_call>'\n"
    call = {"function": {"name": "write_file", "arguments": {"name": "fused.py", "code": code}}}
    assert bundle_in_messages([{"role": "assistant", "content": None, "tool_calls": [call]}]).files[0].code == code
