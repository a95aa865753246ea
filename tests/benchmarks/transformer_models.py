"""Twelve whole models from configurations of transformers, with random weights, as a file for `passnet model`.

The function of a model is its name and its dtype, such as bert_bfloat16. Widths are those of published models; depths
are smaller where equal layers only repeat, and so are vocabularies. Text models get 4 rows of 128 tokens. With "_small"
behind the dtype it has two narrow layers and short inputs, so that Triton's interpreter can run it whole."""

from functools import partial
from typing import Any

import torch
import transformers

VOCABULARY = 8000
SIZES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "input_ids": ((4, 128), (2, 12)),
    "pixel_values": ((8, 3, 224, 224), (1, 3, 32, 32)),
    "input_values": ((2, 32000), (1, 4000)),
    "input_features": ((1, 80, 3000), (1, 80, 60)),
}
"""The shape of each input, and that for a small model."""


def _inputs(name: str, *, small: bool) -> dict[str, Any]:
    shape = SIZES[name][small]
    if name != "input_ids":
        return {name: torch.randn(shape)}
    ids = torch.randint(2, 400, shape)
    return {name: ids, "attention_mask": torch.ones_like(ids)}


def _decoder(**settings: Any) -> dict[str, Any]:
    return {"use_cache": False, "vocab_size": VOCABULARY, "pad_token_id": 0} | settings


MODELS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "bert": ("BertConfig", "BertModel", {"vocab_size": VOCABULARY}, "input_ids"),
    "modernbert": (
        "ModernBertConfig", "ModernBertModel",
        {"vocab_size": VOCABULARY, "num_hidden_layers": 12, "pad_token_id": 0, "reference_compile": False}, "input_ids",
    ),
    "gpt2": ("GPT2Config", "GPT2Model", _decoder(bos_token_id=1, eos_token_id=1), "input_ids"),
    "llama": (
        "LlamaConfig", "LlamaModel",
        _decoder(
            hidden_size=2048, intermediate_size=5632, num_attention_heads=32, num_key_value_heads=4,
            num_hidden_layers=8,
        ), "input_ids",
    ),
    "qwen3": (
        "Qwen3Config", "Qwen3Model",
        _decoder(
            hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
            num_hidden_layers=12,
        ), "input_ids",
    ),
    "vit": ("ViTConfig", "ViTModel", {}, "pixel_values"),
    "convnext": ("ConvNextConfig", "ConvNextModel", {}, "pixel_values"),
    "swin": ("SwinConfig", "SwinModel", {}, "pixel_values"),
    "wav2vec2": ("Wav2Vec2Config", "Wav2Vec2Model", {}, "input_values"),
    "whisper": ("WhisperConfig", "WhisperEncoder", {"d_model": 384, "encoder_layers": 4}, "input_features"),
    "mixtral": (
        "MixtralConfig", "MixtralModel",
        _decoder(
            hidden_size=1024, intermediate_size=3584, num_attention_heads=16, num_key_value_heads=4,
            num_hidden_layers=4, num_local_experts=8,
        ), "input_ids",
    ),
    "qwen3_moe": (
        "Qwen3MoeConfig", "Qwen3MoeModel",
        _decoder(
            hidden_size=1024, moe_intermediate_size=768, num_attention_heads=16, num_key_value_heads=4, head_dim=64,
            num_hidden_layers=4, num_experts=16, num_experts_per_tok=4,
        ), "input_ids",
    ),
}  # fmt: skip
"""Per name: the configuration, the model, settings, and the input."""

NARROW = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 500,
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "bert": NARROW,
    "modernbert": NARROW,
    "gpt2": {"n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 500},
    "llama": NARROW | {"num_key_value_heads": 2},
    "qwen3": NARROW | {"num_key_value_heads": 2, "head_dim": 16},
    "vit": NARROW | {"image_size": 32},
    "convnext": {"hidden_sizes": [16, 24, 32, 40], "depths": [1, 1, 1, 1]},
    "swin": {"embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "image_size": 32, "window_size": 4},
    "wav2vec2": NARROW | {"conv_dim": (24,) * 7, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4},
    "whisper": {
        "d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 96,
        "max_source_positions": 30,
    },
    "mixtral": NARROW | {"num_key_value_heads": 2, "num_local_experts": 4},
    "qwen3_moe": NARROW
    | {
        "num_key_value_heads": 2, "head_dim": 16, "moe_intermediate_size": 32, "num_experts": 8,
        "num_experts_per_tok": 2,
    },
}  # fmt: skip
"""What is smaller in a small model."""

DTYPES = ("bfloat16", "float32")


def built(name: str, dtype: str, *, small: bool) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A model in evaluation mode, and inputs for it."""
    config, model, settings, given = MODELS[name]
    if small:
        settings = settings | SMALL[name]
    made = _class_of(model)(getattr(transformers, config)(**settings)).eval().to(getattr(torch, dtype))
    inputs = _inputs(given, small=small).items()
    return made, {key: each.to(getattr(torch, dtype)) if each.is_floating_point() else each for key, each in inputs}


def _class_of(name: str) -> Any:
    if hasattr(transformers, name):
        return getattr(transformers, name)
    from transformers.models.whisper import modeling_whisper

    return getattr(modeling_whisper, name)


for _name in MODELS:
    for _dtype in DTYPES:
        globals()[f"{_name}_{_dtype}"] = partial(built, _name, _dtype, small=False)
        globals()[f"{_name}_{_dtype}_small"] = partial(built, _name, _dtype, small=True)
