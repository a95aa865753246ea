"""Tool calls that are written in plain text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from passnet_core.solvers.llm.tools import calls_in


def asked(text: str) -> list[tuple[str, dict[str, str]]]:
    return [(call.name, json.loads(call.arguments)) for call in calls_in(text)]


def test_headings_with_blocks_are_calls_in_their_order() -> None:
    text = """I will try this.

### write_file fused.py
```python
import torch  # ### check
### evaluate
```
Then:

### patch_file fused.py
```
old
```
```
new
```

### check

### explain float16/0/bert_op12

### inductor_code float16/0/bert_op12
"""
    assert asked(text) == [
        ("write_file", {"name": "fused.py", "code": "import torch  # ### check\n### evaluate\n"}),
        ("patch_file", {"name": "fused.py", "old": "old\n", "new": "new\n"}),
        ("check", {}),
        ("explain", {"subgraph": "float16/0/bert_op12"}),
        ("inductor_code", {"subgraph": "float16/0/bert_op12"}),
    ]


def test_longer_fences_hold_shorter_ones_and_other_headings_are_text() -> None:
    text = "### Plan of mine\n\n### write_file a.py\n````\n```\ninner\n```\n````\n### Conclusion\n### finish\n"
    assert asked(text) == [("write_file", {"name": "a.py", "code": "```\ninner\n```\n"}), ("finish", {})]


def test_a_call_that_lacks_something_is_still_one() -> None:
    assert asked("### write_file a.py\nno block\n") == [("write_file", {"name": "a.py"})]
    assert asked("### write_file a.py\n```python\ncut off") == [("write_file", {"name": "a.py"})]


@given(st.text(alphabet="#` \nwrite_filecheck.py", max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for call in calls_in(text):
        assert isinstance(json.loads(call.arguments), dict)


def test_calls_that_a_chat_template_writes_are_read_among_headings() -> None:
    text = """### write_file a.py
```python
"<tool_call>no call</tool_call>"
```
<tool_call>
{"name": "write_file", "arguments": {"name": "b.py", "code": "### check\\n"}}
</tool_call>
<tool_call>{"name": "explain", "arguments": "{\\"subgraph\\": \\"s\\"}"}</tool_call>
### finish
"""
    assert asked(text) == [
        ("write_file", {"name": "a.py", "code": '"<tool_call>no call</tool_call>"\n'}),
        ("write_file", {"name": "b.py", "code": "### check\n"}),
        ("explain", {"subgraph": "s"}),
        ("finish", {}),
    ]
    assert [call.name for call in calls_in("<tool_call>{cut off</tool_call>")] == ["tool_call"]


def test_blocks_of_tildes_are_read() -> None:
    assert asked("### write_file a.py\n~~~python\ncode\n~~~\n") == [("write_file", {"name": "a.py", "code": "code\n"})]
