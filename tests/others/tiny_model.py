"""A language model small enough to be made by a test: a Qwen2 of two layers with random weights and its own tokenizer.

It writes rubbish, until it has learned conversations by heart. `make` runs this file with the interpreter of an
environment that has torch and transformers (gguf, for a GGUF file); nothing of them is loaded into the test process."""

import argparse
import copy
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.waiting import seconds
from tests.which import TESTS

PROJECT = TESTS.parent
VOCABULARY = 2048
END, TURN, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL = (END, TURN, TURN_END)
CALL_MARKS = ("<tool_call>", "</tool_call>")
"""One token each, as in the models whose format this is, but part of the text."""
SEED = 20
STEPS, LEARNING_RATE = 400, 4e-3
REFRESHED_EVERY = 10
"""After how many steps what precedes the answers is read again."""
GOOD_ENOUGH = 0.01
"""The mean loss per token, in nats, at which what is learned is known by heart."""


class Template(StrEnum):
    """What a chat template does. HERMES: it shows tools and renders calls in the format of the Hermes models. NO_TOOLS:
    it leaves tools out without a word. ALTERNATING: it knows no tools and no system, and refuses turns of user and
    assistant that do not alternate."""

    HERMES = "hermes"
    NO_TOOLS = "no tools"
    ALTERNATING = "alternating"


_TURN = "{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') + '<|im_end|>\\n' }}"
_NEXT = "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"

CHAT_TEMPLATES = {
    Template.HERMES: """
{%- set first = messages[0] if messages and messages[0].role == 'system' else none %}
{%- if first is not none or tools %}
{{- '<|im_start|>system\\n' + (first.content if first is not none else '') }}
{%- if tools %}
{{- '\\n\\nThese functions can be called:\\n<tools>' }}
{%- for tool in tools %}{{ '\\n' }}{{ tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\nA call is written as\\n<tool_call>\\n{"name": NAME, "arguments": OBJECT}\\n</tool_call>' }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'system' %}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{%- if call.function.arguments is string %}{{ call.function.arguments }}
{%- else %}{{ call.function.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
"""
    + _NEXT,
    Template.NO_TOOLS: "{%- for message in messages %}" + _TURN + "{%- endfor %}" + _NEXT,
    Template.ALTERNATING: """
{%- for message in messages %}
{%- if message.role == 'system' %}{{ raise_exception('System role not supported') }}{%- endif %}
{%- if message.role != ('user' if loop.index0 % 2 == 0 else 'assistant') %}
{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
"""
    + _TURN
    + "{%- endfor %}"
    + _NEXT,
}
"""Jinja templates of chats, as a tokenizer carries them."""


@dataclass(frozen=True)
class Recipe:
    """How a tiny model is made. context: its longest sequence, in tokens. lessons: conversations in OpenAI's chat
    format, {"messages": [...], "tools": [...]}, of which it learns the assistant's messages by heart; none: its weights
    are random. gguf: whether a file model.gguf is written beside the weights."""

    template: Template = Template.HERMES
    context: int = 16_384
    lessons: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    gguf: bool = False
    steps: int = STEPS
    seed: int = SEED


def make(python: Path, folder: Path, recipe: Recipe) -> Path:
    """Make a tiny model in a process of its own, and return its folder, which transformers can load.

    python: an interpreter with torch and transformers. Fails the test if the model cannot be made, or does not learn
    its lessons."""
    folder.mkdir(parents=True, exist_ok=True)
    order = folder / "recipe.json"
    order.write_text(json.dumps(asdict(recipe)))
    done = subprocess.run(
        [str(python), "-m", "tests.others.tiny_model", str(order), str(folder)],
        cwd=PROJECT, capture_output=True, text=True, timeout=seconds(120), check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"no tiny model was made:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return folder


# --- what runs in the environment's own process ---


def write(folder: Path, recipe: Recipe) -> None:
    """Write the model and its tokenizer to a folder. Raises SystemExit if it does not learn its lessons."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    tokenizer = _tokenizer(recipe)
    torch.manual_seed(recipe.seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=recipe.context,
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    if recipe.lessons:
        _learn(model, tokenizer, recipe)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if recipe.gguf:
        _write_gguf(folder / "model.gguf", model, tokenizer)


def _texts() -> Iterator[str]:
    """What such a model reads: the help, and code."""
    for pattern in ("assets/help/*.md", "passnet_core/solvers/**/*.md", "passnet_core/solvers/**/*.py"):
        for path in sorted(PROJECT.glob(pattern)):
            yield path.read_text(encoding="utf-8")


def _tokenizer(recipe: Recipe) -> Any:
    """Train a byte-level BPE tokenizer on this project's own texts. It splits them as Qwen2's does, since transformers
    takes that for every model of this kind."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Tokenizer

    made = Tokenizer(models.BPE())
    theirs = Qwen2Tokenizer().backend_tokenizer
    made.normalizer, made.pre_tokenizer = theirs.normalizer, theirs.pre_tokenizer
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(CALL_MARKS),
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    lessons = (str(message.get("content") or "") for each in recipe.lessons for message in each["messages"])
    made.train_from_iterator([*_texts(), *lessons], trainer)
    made.add_tokens([AddedToken(each, normalized=False) for each in CALL_MARKS])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=TURN_END,
        pad_token=END,
        model_max_length=recipe.context,
        chat_template=CHAT_TEMPLATES[recipe.template].strip(),
    )


def _learn(model: Any, tokenizer: Any, recipe: Recipe) -> None:
    """Train the model on the assistant's messages of each lesson. Raises SystemExit if it does not know them then.

    What stands before the first of these messages is long and its gradient is of no use: its keys and values are
    computed anew once in a while, and are constants in between."""
    import torch

    lessons = [_lesson(tokenizer, each) for each in recipe.lessons]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, recipe.steps)
    caches: list[Any] = []
    worst = float("inf")
    for step in range(recipe.steps + 1):
        if fresh := step % REFRESHED_EVERY == 0:
            with torch.no_grad():
                caches = [model(before, use_cache=True, logits_to_keep=1).past_key_values for before, _, _ in lessons]
        losses = [
            model(input_ids=tokens, labels=labels, cache=copy.deepcopy(cache)).loss
            for (_, tokens, labels), cache in zip(lessons, caches, strict=True)
        ]
        worst = max(float(each.detach()) for each in losses)
        if fresh and worst < GOOD_ENOUGH:
            return
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    raise SystemExit(f"The model has not learned its lessons: the loss is {worst:.3f} after {recipe.steps} steps.")


def _lesson(tokenizer: Any, lesson: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The tokens of a conversation before the assistant's first message, those from there on, and the labels of these:
    each token that the assistant says, and -100 for all others. All are int64 [1, tokens]."""
    import torch

    messages, tools = lesson["messages"], lesson.get("tools")
    whole = _tokens(tokenizer, messages, tools, False)
    labels = [-100] * len(whole)
    starts = []
    for number, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        starts.append(len(_tokens(tokenizer, messages[:number], tools, True)))
        end = len(_tokens(tokenizer, messages[: number + 1], tools, False))
        labels[starts[-1] : end] = whole[starts[-1] : end]
    # the last token before the message predicts its first
    cut = starts[0] - 1
    before, tokens, told = (torch.tensor([each]) for each in (whole[:cut], whole[cut:], labels[cut:]))
    return before, tokens, told


def _tokens(tokenizer: Any, messages: Sequence[Mapping[str, Any]], tools: Any, asked: bool) -> list[int]:
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=asked)
    return list(tokenizer.encode(text, add_special_tokens=False))


def _write_gguf(path: Path, model: Any, tokenizer: Any) -> None:
    """Write the model in llama.cpp's format, in single precision."""
    import gguf  # type: ignore[import-not-found]

    config = model.config
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)

    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    tokens = [tokenizer.convert_ids_to_tokens(number) for number in range(len(tokenizer))]
    kinds = [_kind(gguf.TokenType, token) for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([each if isinstance(each, str) else " ".join(each) for each in merges])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(False)
    writer.add_chat_template(tokenizer.chat_template)

    for name, values in model.state_dict().items():
        writer.add_tensor(_named(name), values.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _kind(kinds: Any, token: str) -> Any:
    if token in SPECIAL:
        return kinds.CONTROL
    return kinds.USER_DEFINED if token in CALL_MARKS else kinds.NORMAL


GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""llama.cpp's names of a Qwen2's tensors, by those of transformers."""


def _named(name: str) -> str:
    """The name of a tensor in a GGUF file."""
    module, _, kind = name.rpartition(".")
    if module.startswith("model.layers."):
        _, _, layer, inside = module.split(".", 3)
        return f"blk.{layer}.{GGUF_NAMES[inside]}.{kind}"
    return f"{GGUF_NAMES[module]}.{kind}"


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", type=Path, help="a JSON file with the fields of Recipe")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    fields = json.loads(given.recipe.read_text())
    write(given.folder, Recipe(**{**fields, "template": Template(fields["template"])}))


if __name__ == "__main__":
    _main()
