"""A conversation as the tokens of a small model: what it is told, and the tool calls that it makes.

    <|user|>```python … ```<|call|>write_file<|argument|>fused.py<|argument|>import torch …<|call|>evaluate<|end|>
    <|result|>Wrote fused.py: a pass.<|result|>float32/0/…: right, not timed. …<|call|>finish<|end|>

The system's message is left out: it is the same in every conversation, and would take half of a small context. So are
reasoning, words beside calls, and the machine. The model learns its answers up to <|end|>, except those to which the
export gave the weight 0: it reads mistakes, and does not learn them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from passnet_core.records.trajectories import Message, ToolCall
from passnet_core.solvers.llm.chat import written
from passnet_core.solvers.llm.files import BundleFiles
from passnet_core.solvers.llm.tools import TOOLS, calls_in, replay

PAD, USER, CALL, ARGUMENT, RESULT, END = "<|pad|>", "<|user|>", "<|call|>", "<|argument|>", "<|result|>", "<|end|>"
SPECIAL = (PAD, USER, CALL, ARGUMENT, RESULT, END)
PARAMETERS = {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}

Part = tuple[str, bool]
"""A stretch of text, and whether the model writes it."""


def parts_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    """The parts of a conversation in OpenAI's chat format, with arguments as JSON text."""
    for message in messages:
        if message["role"] == "user":
            yield USER + _shortened(str(message["content"])), False
        elif message["role"] == "tool":
            yield RESULT + str(message["content"]), False
        elif message["role"] == "assistant":
            calls = [_call(**each["function"]) for each in message.get("tool_calls") or ()]
            calls = calls or [_call(each.name, each.arguments) for each in calls_in(str(message["content"]))]
            yield "".join(calls) + END, message.get("weight", 1) != 0


def _shortened(text: str) -> str:
    """A user's words; of the first message only the subgraphs, not the machine on which they are judged."""
    source = text.find("```python")
    return text[source:] if text.startswith("The task is ") and source > 0 else text


def _call(name: str, arguments: str) -> str:
    given = json.loads(arguments or "{}")
    return CALL + name + "".join(ARGUMENT + str(given.get(each, "")) for each in PARAMETERS.get(name, ()))


def straightened(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The conversation as it would have gone without a mistake: the files as they were at the end are written and
    evaluated at once. None if nothing was evaluated, or if it begins with a bundle."""
    first = [dict(message) for message in messages if message["role"] in ("system", "user")]
    asked = next((number for number, each in enumerate(messages) if each["role"] == "assistant"), len(messages))
    files, said = BundleFiles(), ""
    results = {str(each.get("tool_call_id")): str(each["content"]) for each in messages if each["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or ():
            replay(files, ToolCall(call["id"], **call["function"]))
            if call["function"]["name"] == "evaluate":
                said = results.get(call["id"], said)
    if not said or not files.codes or len(first) != asked:
        return None
    written_files = [("write_file", {"name": name, "code": code}) for name, code in files.codes.items()]
    answers = [BundleFiles().write(name, code) for name, code in files.codes.items()]
    calls = [*written_files, ("evaluate", {})]
    made = [*first, _asking(calls), *({"role": "tool", "content": each} for each in (*answers, said))]
    return [*made, _asking([("finish", {})])]


def _asking(calls: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, Any]:
    forms = [{"function": {"name": name, "arguments": json.dumps(given)}} for name, given in calls]
    return {"role": "assistant", "content": "", "tool_calls": forms}


def prompt_of(messages: Sequence[Message]) -> str:
    """What a model reads before it answers."""
    return "".join(text for text, _ in parts_of(map(written, messages)))


def calls_of(text: str) -> tuple[ToolCall, ...]:
    """The calls in a model's answer; one that has too few arguments is kept, and its tool will say so."""
    calls = []
    for number, each in enumerate(text.partition(END)[0].split(CALL)[1:]):
        name, *given = each.split(ARGUMENT)
        arguments = dict(zip(PARAMETERS.get(name, ()), given))
        calls.append(ToolCall(f"call_{number}", name, json.dumps(arguments)))
    return tuple(calls)


def train_tokenizer(texts: Iterable[str], size: int, path: Path) -> Tokenizer:
    """Train a byte-level BPE with `size` tokens, the special ones included, and write it to a file."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(path))
    return tokenizer


def encoded(messages: Iterable[Mapping[str, Any]], tokenizer: Tokenizer) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and which of them the model writes."""
    tokens: list[int] = []
    own: list[bool] = []
    for text, is_own in parts_of(messages):
        ids = tokenizer.encode(text).ids
        tokens += ids
        own += [is_own] * len(ids)
    return tokens, own
