"""The runs of operations that become tasks, and the names of these tasks."""

from dataclasses import dataclass

LEARN = "learn"
EVALUATE = "eval"


@dataclass(frozen=True)
class Recipe:
    """A task made of the runs with one of these spellings, from these architectures.

    runs: spellings, each the last parts of the operations' targets in order. The first run of each spelling per model,
    dtype and size is taken. results: how many values must leave the run; None: any number.
    """

    name: str
    split: str
    architectures: tuple[str, ...]
    runs: tuple[str, ...]
    results: int | None = None


LAYER_NORM_RESIDUAL = ("dropout add layer_norm",)
ROTATED = "mul getitem getitem neg cat mul add"
ROTARY_HALVES = f"view transpose {ROTATED}"
RMS_NORM = "to pow mean add rsqrt mul to mul"
GELU_TANH = "mul pow mul add mul tanh add mul"

RECIPES: tuple[Recipe, ...] = (
    # pointwise chains
    Recipe("clip-quick-gelu", LEARN, ("clip-text-base",), ("mul sigmoid mul",)),
    Recipe("bloom-gelu-tanh", LEARN, ("bloom-560m",), ("mul mul mul mul add mul tanh add mul",)),
    Recipe("gpt2-gelu-new", LEARN, ("gpt2",), (f"view {GELU_TANH} view",)),
    Recipe("esm-gelu-erf", LEARN, ("esm2-150m",), ("mul truediv erf add mul",)),
    Recipe("nemotron-squared-relu", LEARN, ("nemotron-mini",), ("relu square",)),
    # gates
    Recipe("swiglu-gate", LEARN, ("llama-1b", "qwen3-0.6b"), ("silu mul",)),
    Recipe("gemma2-geglu-gate", LEARN, ("gemma2-2b",), ("gelu mul",)),
    Recipe("t5-gelu-gate", EVALUATE, ("t5-v1_1-base",), (f"{GELU_TANH} mul dropout",)),
    Recipe("phi3-chunked-gate", LEARN, ("phi3-mini",), ("chunk getitem getitem silu mul",)),
    Recipe(
        "gpt-oss-clamped-gate",
        EVALUATE,
        ("gpt-oss-small",),
        ("getitem getitem clamp clamp mul sigmoid mul add mul to",),
    ),
    # normalisations, alone and after a residual
    Recipe("rmsnorm", LEARN, ("llama-1b", "qwen3-0.6b"), (RMS_NORM,)),
    Recipe("rmsnorm-residual", LEARN, ("llama-1b", "phi3-mini"), (f"add {RMS_NORM}", f"dropout add {RMS_NORM}"), 2),
    Recipe(
        "gemma2-norm-residual-norm",
        EVALUATE,
        ("gemma2-2b",),
        ("float pow mean add rsqrt mul float add mul type_as add float pow mean add rsqrt mul float add mul type_as",),
        2,
    ),
    Recipe(
        "t5-rmsnorm-residual",
        LEARN,
        ("t5-v1_1-base",),
        (
            "dropout add to pow mean add rsqrt mul mul",
            f"dropout add {RMS_NORM}",
            f"dropout add isinf any where neg clamp {RMS_NORM}",
        ),
        2,
    ),
    Recipe("cohere-layernorm", LEARN, ("cohere-small",), ("to mean sub pow mean sub add rsqrt mul to mul to",)),
    Recipe("layernorm-residual", LEARN, ("bert-base", "deberta-v3-base"), LAYER_NORM_RESIDUAL, 1),
    Recipe("layernorm-residual-kept", LEARN, ("vit-base", "esm2-150m"), LAYER_NORM_RESIDUAL, 2),
    Recipe("gpt-neox-parallel-residual", LEARN, ("gpt-neox-410m",), ("dropout add add layer_norm",)),
    Recipe("dinov2-layerscale-layernorm", EVALUATE, ("dinov2-base",), ("mul add layer_norm",), 2),
    Recipe("resnet-batchnorm-relu", LEARN, ("resnet-50",), ("batch_norm relu", "batch_norm iadd relu"), 1),
    Recipe(
        "convnextv2-response-norm",
        LEARN,
        ("convnextv2-tiny",),
        ("gelu linalg_vector_norm mean add truediv mul mul add add",),
    ),
    Recipe("wav2vec2-groupnorm-gelu", EVALUATE, ("wav2vec2-base",), ("group_norm gelu",)),
    # softmax with what surrounds it
    Recipe(
        "attention-softmax",
        LEARN,
        ("llama-1b", "bert-base", "vit-base"),
        ("mul add softmax to dropout", "mul add softmax dropout", "mul softmax to dropout"),
    ),
    Recipe("gemma2-softcap-softmax", LEARN, ("gemma2-2b",), ("mul truediv tanh mul add softmax to dropout",)),
    Recipe("bloom-alibi-softmax", EVALUATE, ("bloom-560m",), ("view add softmax to dropout view",)),
    Recipe("t5-bias-softmax", LEARN, ("t5-v1_1-base",), ("mul add add softmax dropout",)),
    Recipe(
        "gpt-oss-sink-softmax",
        EVALUATE,
        ("gpt-oss-small",),
        ("mul add reshape expand cat max getitem sub softmax getitem dropout to",),
    ),
    # changes of layout with computation
    Recipe("rotary-halves", LEARN, ("llama-1b", "gemma2-2b"), (ROTARY_HALVES,)),
    Recipe(
        "gpt-neox-partial-rotary",
        EVALUATE,
        ("gpt-neox-410m",),
        (
            "view transpose chunk getitem getitem getitem getitem getitem getitem getitem "
            f"{ROTATED} {ROTATED} cat cat transpose",
        ),
    ),
    Recipe(
        "cohere-interleaved-rotary",
        EVALUATE,
        ("cohere-small",),
        ("view transpose float mul getitem getitem neg stack flatten mul add to",),
    ),
    Recipe(
        "qwen3-norm-rotary",
        EVALUATE,
        ("qwen3-0.6b",),
        (f"view {RMS_NORM} transpose {ROTATED}",),
    ),
    Recipe("merge-heads", LEARN, ("bert-base", "gpt-neox-410m"), ("transpose contiguous reshape contiguous",)),
    Recipe(
        "gpt2-split-heads",
        LEARN,
        ("gpt2",),
        ("view split getitem getitem getitem view transpose view transpose view transpose transpose",),
    ),
    Recipe("vit-embedding", EVALUATE, ("vit-base",), ("flatten transpose expand cat add dropout layer_norm",)),
    Recipe("convnextv2-block-end", EVALUATE, ("convnextv2-tiny",), ("permute add permute layer_norm permute",)),
    Recipe(
        "swin-window-partition",
        EVALUATE,
        ("swin-tiny",),
        ("dropout add layer_norm view pad roll view transpose contiguous view view",),
    ),
    Recipe(
        "swin-patch-merging",
        LEARN,
        ("swin-tiny",),
        ("dropout add view getitem getitem getitem getitem cat view layer_norm",),
    ),
)
"""The bundled tasks in folders."""
