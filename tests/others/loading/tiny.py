"""A tokenizer, a chat template and a model that need no download."""

import json
import sys
from pathlib import Path
from typing import Any

TEMPLATE = """\
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content %}
{%- else %}
    {%- set system = '' %}
{%- endif %}
{%- if tools or system %}
    {{- '<|im_start|>system\\n' + system }}
    {%- for tool in tools or [] %}
        {{- '\\n<tool>' + (tool | tojson) + '</tool>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' }}
        {%- generation %}
        {%- if message.reasoning_content is string %}
            {{- '<think>' + message.reasoning_content + '</think>' }}
        {%- endif %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- (call.function.arguments | tojson) + '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>' }}
        {%- endgeneration %}
        {{- '\\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- elif message.role == 'user' %}
        {{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
"""As Qwen's and Hermes' templates spell calls, with what the assistant says marked for masks."""
PLAIN_TEMPLATE = TEMPLATE.replace("{%- generation %}", "").replace("{%- endgeneration %}", "")
"""The same without marks, as most templates are."""
SPECIAL = ["<|im_start|>", "<|im_end|>", "<pad>"]


def tokenizer(texts: list[str], template: str = TEMPLATE) -> Any:
    """A byte-level tokenizer, trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet)
    made.train_from_iterator(texts, trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<pad>")
    wrapped.chat_template = template
    return wrapped


def model(vocabulary: int) -> Any:
    """A random model of a few thousand weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=8192, bos_token_id=None, eos_token_id=1, pad_token_id=2,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def trained_spans(made: Any, ids: list[int], labels: list[int]) -> list[str]:
    """The texts on which the loss falls, one for each stretch of tokens."""
    spans: list[list[int]] = []
    before = -100
    for token, label in zip(ids, labels, strict=True):
        if label != -100:
            if before == -100:
                spans.append([])
            spans[-1].append(token)
        before = label
    return [made.decode(span) for span in spans]


def arguments() -> tuple[Path, Path]:
    """The folder with the exports, and one to write to."""
    return Path(sys.argv[1]), Path(sys.argv[2])


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def tell(**found: Any) -> None:
    print("\n" + json.dumps(found))
