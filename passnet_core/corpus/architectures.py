"""Which models the extractor builds: real layer sizes, one or two layers, random weights. No weights are fetched."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Architecture:
    """A model of the transformers library, built from its configuration.

    sizes: the inputs to capture, ("text", batch, tokens), ("image", batch, pixels per side) or
    ("audio", batch, samples).
    """

    name: str
    config: str
    model: str
    settings: tuple[tuple[str, Any], ...]
    sizes: tuple[tuple[str, int, int], ...]


TEXT = (("text", 1, 128), ("text", 4, 256))
IMAGE = (("image", 1, 224), ("image", 4, 224))


def _of(name: str, stem: str, sizes: tuple[tuple[str, int, int], ...], **settings: Any) -> Architecture:
    model = settings.pop("model", f"{stem}Model")
    config = settings.pop("config", f"{stem}Config")
    return Architecture(name, config, model, tuple(settings.items()), sizes)


ARCHITECTURES: tuple[Architecture, ...] = (
    _of("bert-base", "Bert", TEXT, num_hidden_layers=1),
    _of("gpt2", "GPT2", TEXT, n_layer=1),
    _of(
        "llama-1b",
        "Llama",
        TEXT,
        num_hidden_layers=1,
        hidden_size=2048,
        intermediate_size=5632,
        num_attention_heads=32,
        num_key_value_heads=4,
        vocab_size=8000,
    ),
    _of(
        "gemma2-2b",
        "Gemma2",
        TEXT,
        num_hidden_layers=1,
        hidden_size=2304,
        intermediate_size=9216,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=256,
        vocab_size=8000,
    ),
    _of(
        "qwen3-0.6b",
        "Qwen3",
        TEXT,
        num_hidden_layers=1,
        hidden_size=1024,
        intermediate_size=3072,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=8000,
    ),
    _of("bloom-560m", "Bloom", TEXT, n_layer=1, hidden_size=1024, n_head=16, vocab_size=8000),
    _of(
        "gpt-neox-410m",
        "GPTNeoX",
        TEXT,
        num_hidden_layers=1,
        hidden_size=1024,
        intermediate_size=4096,
        num_attention_heads=16,
        vocab_size=8000,
    ),
    _of(
        "t5-v1_1-base",
        "T5",
        TEXT,
        model="T5EncoderModel",
        num_layers=1,
        d_model=768,
        d_ff=2048,
        num_heads=12,
        feed_forward_proj="gated-gelu",
        vocab_size=8000,
    ),
    _of("clip-text-base", "CLIPText", (("text", 1, 77), ("text", 4, 77)), num_hidden_layers=1, model="CLIPTextModel"),
    _of("vit-base", "ViT", IMAGE, num_hidden_layers=1),
    _of("swin-tiny", "Swin", IMAGE, depths=[2, 2], num_heads=[3, 6]),
    _of("convnextv2-tiny", "ConvNextV2", IMAGE, depths=[1, 1, 1, 1]),
    _of(
        "deberta-v3-base",
        "DebertaV2",
        TEXT,
        num_hidden_layers=1,
        hidden_size=768,
        num_attention_heads=12,
        intermediate_size=3072,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        vocab_size=8000,
        type_vocab_size=0,
    ),
    _of(
        "esm2-150m",
        "Esm",
        TEXT,
        num_hidden_layers=1,
        hidden_size=640,
        intermediate_size=2560,
        num_attention_heads=20,
        vocab_size=33,
        position_embedding_type="rotary",
        token_dropout=True,
        mask_token_id=32,
        pad_token_id=1,
        emb_layer_norm_before=False,
    ),
    _of(
        "phi3-mini",
        "Phi3",
        TEXT,
        num_hidden_layers=1,
        hidden_size=3072,
        intermediate_size=8192,
        num_attention_heads=32,
        vocab_size=8000,
        pad_token_id=0,
    ),
    _of(
        "cohere-small",
        "Cohere",
        TEXT,
        num_hidden_layers=1,
        hidden_size=2048,
        intermediate_size=5632,
        num_attention_heads=16,
        num_key_value_heads=16,
        vocab_size=8000,
    ),
    _of(
        "nemotron-mini",
        "Nemotron",
        TEXT,
        num_hidden_layers=1,
        hidden_size=2048,
        intermediate_size=8192,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=8000,
    ),
    _of("resnet-50", "ResNet", IMAGE, depths=[1, 1, 1, 1]),
    _of("dinov2-base", "Dinov2", IMAGE, num_hidden_layers=1),
    _of("wav2vec2-base", "Wav2Vec2", (("audio", 1, 16000), ("audio", 2, 32000)), num_hidden_layers=1),
    _of(
        "gpt-oss-small",
        "GptOss",
        (("text", 1, 64), ("text", 1, 128)),
        num_hidden_layers=1,
        hidden_size=1024,
        intermediate_size=1024,
        num_attention_heads=16,
        num_key_value_heads=4,
        head_dim=64,
        num_local_experts=4,
        num_experts_per_tok=2,
        vocab_size=8000,
    ),
)
