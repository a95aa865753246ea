"""Twelve whole models from configurations of transformers, with random weights, as a file for `passnet model`.

The function of a model is its name and its dtype, such as bert_bfloat16. Widths are those of published models; depths
are smaller where equal layers only repeat, and so are vocabularies. Text models get 4 rows of 128 tokens."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers

ROWS, TOKENS, VOCABULARY = 4, 128, 8000


def _text() -> dict[str, Any]:
    ids = torch.randint(2, VOCABULARY - 2, (ROWS, TOKENS))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def _image() -> dict[str, Any]:
    return {"pixel_values": torch.randn(8, 3, 224, 224)}


def _sound() -> dict[str, Any]:
    return {"input_values": torch.randn(2, 32000)}


def _spectrogram() -> dict[str, Any]:
    return {"input_features": torch.randn(1, 80, 3000)}


def _decoder(**settings: Any) -> dict[str, Any]:
    return {"use_cache": False, "vocab_size": VOCABULARY, "pad_token_id": 0} | settings


MODELS: dict[str, tuple[str, str, dict[str, Any], Callable[[], dict[str, Any]]]] = {
    "bert": ("BertConfig", "BertModel", {"vocab_size": VOCABULARY}, _text),
    "modernbert": (
        "ModernBertConfig", "ModernBertModel",
        {"vocab_size": VOCABULARY, "num_hidden_layers": 12, "pad_token_id": 0, "reference_compile": False}, _text,
    ),
    "gpt2": ("GPT2Config", "GPT2Model", _decoder(bos_token_id=1, eos_token_id=1), _text),
    "llama": (
        "LlamaConfig", "LlamaModel",
        _decoder(
            hidden_size=2048, intermediate_size=5632, num_attention_heads=32, num_key_value_heads=4,
            num_hidden_layers=8,
        ), _text,
    ),
    "qwen3": (
        "Qwen3Config", "Qwen3Model",
        _decoder(
            hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
            num_hidden_layers=12,
        ), _text,
    ),
    "vit": ("ViTConfig", "ViTModel", {}, _image),
    "convnext": ("ConvNextConfig", "ConvNextModel", {}, _image),
    "swin": ("SwinConfig", "SwinModel", {}, _image),
    "wav2vec2": ("Wav2Vec2Config", "Wav2Vec2Model", {}, _sound),
    "whisper": ("WhisperConfig", "WhisperEncoder", {"d_model": 384, "encoder_layers": 4}, _spectrogram),
    "mixtral": (
        "MixtralConfig", "MixtralModel",
        _decoder(
            hidden_size=1024, intermediate_size=3584, num_attention_heads=16, num_key_value_heads=4,
            num_hidden_layers=4, num_local_experts=8,
        ), _text,
    ),
    "qwen3_moe": (
        "Qwen3MoeConfig", "Qwen3MoeModel",
        _decoder(
            hidden_size=1024, moe_intermediate_size=768, num_attention_heads=16, num_key_value_heads=4, head_dim=64,
            num_hidden_layers=4, num_experts=16, num_experts_per_tok=4,
        ), _text,
    ),
}  # fmt: skip
"""Per name: the configuration, the model, settings, and the function that makes the inputs."""

DTYPES = ("bfloat16", "float32")


def built(name: str, dtype: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A model in evaluation mode, and inputs for it."""
    config, model, settings, inputs = MODELS[name]
    made = _class_of(model)(getattr(transformers, config)(**settings)).eval().to(getattr(torch, dtype))
    given = {
        key: each.to(getattr(torch, dtype)) if each.is_floating_point() else each for key, each in inputs().items()
    }
    return made, given


def _class_of(name: str) -> Any:
    if hasattr(transformers, name):
        return getattr(transformers, name)
    from transformers.models.whisper import modeling_whisper

    return getattr(modeling_whisper, name)


for _name in MODELS:
    for _dtype in DTYPES:
        globals()[f"{_name}_{_dtype}"] = partial(built, _name, _dtype)
