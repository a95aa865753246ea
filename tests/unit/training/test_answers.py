"""The bundle that the text of an answer writes, in whichever form a model writes it."""

import json
from typing import Any

import pytest

from passnet_client.trl import answer_text
from passnet_core.errors import BadInput
from passnet_core.training.answers import bundle_in

PASS = "def pattern(x):\n    return x\n"
CALL = {"name": "write_file", "arguments": {"name": "fused.py", "code": PASS}}
BLOCK = f"```python\n{PASS}```\n"
FORMS = {
    "heading": f"### write_file fused.py\n{BLOCK}",
    "tool call": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
    "arguments as text": f"<tool_call>{json.dumps({**CALL, 'arguments': json.dumps(CALL['arguments'])})}</tool_call>",
    "block that names its file": f"```python\n# fused.py\n{PASS}```",
    "tildes": f"### write_file fused.py\n~~~\n{PASS}~~~\n",
    "messages": answer_text([{"role": "assistant", "content": None, "tool_calls": [{"function": CALL}]}]),
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
    assert [file.name for file in bundle_in(answer_text(said)).files] == ["fused.py"]
