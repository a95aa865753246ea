"""Small subgraphs, each with an operation or a combination that the rules have to get right, in odd sizes.

Run as a program, it writes a bundle for each, runs it through Triton's interpreter beside eager, and prints what
differs by case, as JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING

from passnet_core.records import Subgraph, Task, TensorSpec
from passnet_core.records.enums import Family
from passnet_core.solvers.rules.writing import OTHER_SIZES

if TYPE_CHECKING:
    from tests.loading import Loaded

F32, F16, BF16 = "float32", "float16", "bfloat16"
X = {"in_0": (3, 5, 7)}
XY = {"in_0": (3, 5, 7), "in_1": (3, 5, 7)}
IMAGE = {"in_0": (2, 6, 9, 8)}
HEADS = {"in_0": (2, 3, 5, 8)}


@dataclass(frozen=True)
class Case:
    """body: lines of forward, of which the last returns. inputs: shape by name; "name: dtype" for another dtype than
    that of the case. strided: run it on transposed tensors too, of its last dtype. beside: further subgraphs of the
    task; then the passes are applied in every order. refused: other shapes, for which the passes must say that they
    were not written."""

    body: str
    inputs: Mapping[str, tuple[int, ...]]
    dtypes: tuple[str, ...] = (F32, F16, BF16)
    strided: bool = False
    beside: tuple["Case", ...] = ()
    refused: Mapping[str, tuple[int, ...]] | None = None

    def task(self, name: str) -> Task:
        subgraphs = [self._subgraph(name, dtype) for dtype in self.dtypes]
        for place, each in enumerate(self.beside):
            subgraphs += [each._subgraph(f"{name}-{place}", dtype) for dtype in each.dtypes]
        return Task(name, Family.FUSIBLE, "eval", tuple(subgraphs))

    def _subgraph(self, name: str, dtype: str) -> Subgraph:
        specs = []
        for each, shape in self.inputs.items():
            title, _, own = each.partition(": ")
            own = own or dtype
            low, high = (0, 3) if own.startswith("int") else (None, None)
            specs.append(TensorSpec(title, shape, own, low=low, high=high))
        arguments = ", ".join(each.name for each in specs)
        lines = "\n".join(f"        {line.strip()}" for line in self.body.strip().splitlines())
        head = "import torch\nfrom torch import device\n\nclass GraphModule(torch.nn.Module):\n"
        code = f"{head}    def forward(self, {arguments}):\n{lines}\n"
        return Subgraph(f"{dtype}/0/{name}", name, "none", code, tuple(specs))


def _unary(expression: str) -> Case:
    return Case(f"tmp_0 = {expression}\ntmp_1 = tmp_0 * 0.7\nreturn (tmp_1,)", X)


def _reduced(expression: str, *, dtypes: tuple[str, ...] = (F32, BF16)) -> Case:
    return Case(f"tmp_0 = in_0 * 1.5\ntmp_1 = {expression.replace('X', 'tmp_0')}\nreturn (tmp_1,)", X, dtypes)


def _viewed(expression: str, inputs: Mapping[str, tuple[int, ...]] = HEADS) -> Case:
    """An operation, a view or a rearrangement of its result, and another operation."""
    return Case(
        f"tmp_0 = in_0 * 1.5\ntmp_1 = {expression.replace('X', 'tmp_0')}\ntmp_2 = torch.tanh(tmp_1)\nreturn (tmp_2,)",
        inputs, (F32, BF16),
    )  # fmt: skip


CASES: dict[str, Case] = {
    **{
        f"unary-{name}": _unary(f"torch.{name}(in_0)")
        for name in ("tanh", "exp", "sin", "cos", "sigmoid", "erf", "abs", "square", "floor", "relu", "neg")
    },
    **{
        f"unary-{name.partition('(')[0]}": _unary(f"torch.nn.functional.{name}")
        for name in (
            "silu(in_0)",
            "gelu(in_0)",
            "leaky_relu(in_0, 0.2)",
            "hardswish(in_0)",
            "hardsigmoid(in_0)",
            "softplus(in_0)",
            "hardtanh(in_0, 0.0, 0.5)",
            "elu(in_0)",
            "mish(in_0)",
            "relu6(in_0)",
        )
    },
    "unary-gelu-tanh": _unary("torch.nn.functional.gelu(in_0, approximate='tanh')"),
    "unary-rsqrt": _unary("torch.rsqrt(in_0.abs() + 0.1)"),
    "unary-log": _unary("torch.log(in_0.abs() + 0.1)"),
    "integers-compared": Case(
        """
        tmp_0 = in_0 >= -1
        tmp_1 = in_0 < 300
        tmp_2 = in_0 == 257
        return (tmp_0, tmp_1, tmp_2)
        """,
        X,
        ("uint8", "int8", "int16", "int64"),
    ),
    "integers-true": Case(
        """
        tmp_0 = in_0.any(dim=1)
        tmp_1 = in_0.all(dim=-1)
        tmp_2 = tmp_0 + 1
        return (tmp_0, tmp_1, tmp_2)
        """,
        X,
        ("uint8", "int8", "int32"),
    ),
    "integers-largest": Case(
        """
        tmp_0 = in_0.amax(dim=1)
        tmp_1 = in_0.argmax(dim=-1)
        tmp_2 = in_0.amin(dim=0)
        return (tmp_0, tmp_1, tmp_2)
        """,
        X,
        ("uint8", "int8", "int64"),
    ),
    "floor-division-by-zero": Case(
        """
        tmp_0 = in_0 // 0.0
        tmp_1 = in_0 * 0.0
        tmp_2 = tmp_1 // -3.0
        tmp_3 = 1.0 / tmp_2
        return (tmp_0, tmp_3)
        """,
        X,
        (F32, F16),
    ),
    "variance-of-nothing": Case("tmp_0 = in_0 * 2\ntmp_1 = tmp_0.std(dim=1)\nreturn (tmp_1,)", {"in_0": (3, 0)}),
    "variance-of-one": Case("tmp_0 = in_0 * 2\ntmp_1 = tmp_0.var(dim=1)\nreturn (tmp_1,)", {"in_0": (3, 1, 4)}),
    "integer-filled": Case("tmp_0 = torch.full((7,), 3)\ntmp_1 = tmp_0 + in_0\nreturn (tmp_1,)", X),
    "integer-alone": Case("tmp_0 = torch.tensor(7, dtype=torch.uint8)\ntmp_1 = tmp_0 + in_0\nreturn (tmp_1,)", X),
    "operands-by-keyword": Case(
        """
        tmp_0 = torch.mul(other=in_1, input=in_0)
        tmp_1 = torch.exp(input=tmp_0)
        tmp_2 = torch.where(condition=in_0 > in_1, other=tmp_1, input=in_1)
        tmp_3 = torch.maximum(input=tmp_2, other=in_0)
        tmp_4 = torch.softmax(dim=-1, input=tmp_3)
        tmp_5 = torch.lerp(weight=0.3, input=tmp_4, end=in_1)
        tmp_6 = tmp_5.transpose(dim0=1, dim1=2)
        return (tmp_6,)
        """,
        XY,
    ),
    "pow-3": _unary("torch.pow(in_0, 3.0)"),
    "pow-0.5": _unary("torch.pow(in_0.abs(), 0.5)"),
    "binary": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = in_0 / tmp_0
        tmp_2 = tmp_1 - in_1
        return (tmp_2,)
        """,
        XY,
        strided=True,
    ),
    "alpha": Case(
        """
        tmp_0 = torch.add(in_0, in_1, alpha=2)
        return (tmp_0,)
        """,
        XY,
    ),
    "broadcast": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0 + in_2
        return (tmp_1,)
        """,
        {"in_0": (3, 5, 7), "in_1": (5, 1), "in_2": (7,)},
        strided=True,
    ),
    "broadcast-both": Case(
        """
        tmp_0 = in_0 + in_1
        return (tmp_0,)
        """,
        {"in_0": (3, 1, 7), "in_1": (1, 5, 7)},
    ),
    "a-tensor-of-one-number": Case(
        """
        tmp_0 = in_0 * in_1
        return (tmp_0,)
        """,
        {"in_0": (3, 5), "in_1: float32": ()},
    ),
    "clamp": _unary("torch.clamp(in_0, min=-0.3, max=0.4)"),
    "clamp-to-bounds-with-more-digits": Case(
        """
        tmp_0 = in_0 * 60000.0
        tmp_1 = torch.isinf(tmp_0)
        tmp_2 = tmp_1.any()
        tmp_3 = torch.where(tmp_2, 64504.0, 65504.0)
        tmp_4 = torch.clamp(tmp_0, min=-tmp_3, max=tmp_3)
        tmp_5 = tmp_4.to(torch.float32)
        tmp_6 = tmp_5.mean(-1, keepdim=True)
        return (tmp_4, tmp_6)
        """,
        X,
        (F16,),
    ),
    "where": Case(
        """
        tmp_0 = in_0 > 0.1
        tmp_1 = torch.where(tmp_0, in_0, in_1)
        return (tmp_1,)
        """,
        XY,
    ),
    "where-number": Case(
        """
        tmp_0 = in_0 > 0
        tmp_1 = torch.where(tmp_0, in_0, 0.25)
        return (tmp_1, tmp_0)
        """,
        X,
    ),
    "masked-fill": Case(
        """
        tmp_0 = in_0.masked_fill(in_1, float('-inf'))
        return (tmp_0,)
        """,
        {"in_0": (3, 5), "in_1: bool": (3, 5)},
    ),
    "logic": Case(
        """
        tmp_0 = in_0 > 0
        tmp_1 = in_1 <= 0.2
        tmp_2 = tmp_0 & tmp_1
        tmp_3 = ~tmp_2
        return (tmp_3, tmp_2)
        """,
        XY,
    ),
    "integers": Case(
        """
        tmp_0 = in_0 * 3
        tmp_1 = tmp_0 + in_1
        tmp_2 = tmp_1 // 2
        tmp_3 = tmp_2 % 3
        return (tmp_3,)
        """,
        {"in_0: int64": (4, 5), "in_1: int64": (4, 5)},
        (F32,),
    ),
    "integers-to-floats": Case(
        """
        tmp_0 = in_0.float()
        tmp_1 = in_1 * tmp_0
        tmp_2 = 1.0 - tmp_1
        return (tmp_2,)
        """,
        {"in_0: int64": (4, 5), "in_1": (4, 5)},
    ),
    "casts": Case(
        """
        tmp_0 = in_0.float()
        tmp_1 = tmp_0 * in_1
        tmp_2 = tmp_1.to(torch.float16)
        return (tmp_2,)
        """,
        XY,
    ),
    "casts-alone": Case(
        """
        tmp_0 = in_0.to(torch.float32)
        return (tmp_0,)
        """,
        X,
        (F16, BF16),
    ),
    "casts-to-bool": Case(
        """
        tmp_0 = in_0.to(torch.bool)
        tmp_1 = tmp_0.long()
        return (tmp_1,)
        """,
        {"in_0: int64": (4, 5)},
        (F32,),
    ),
    "type-as": Case(
        """
        tmp_0 = in_0.float()
        tmp_1 = tmp_0 * 3.0
        tmp_2 = tmp_1.type_as(in_0)
        return (tmp_2,)
        """,
        X,
    ),
    "in-place": Case(
        """
        in_0 += in_1
        tmp_0 = in_0
        return (tmp_0,)
        """,
        XY,
    ),
    "in-place-inside": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_0 += 1.0
        tmp_1 = tmp_0
        tmp_2 = torch.nn.functional.relu(tmp_1, inplace=True)
        return (tmp_2,)
        """,
        XY,
    ),
    "dropout": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.dropout(tmp_0, 0.1, False, False)
        return (tmp_1,)
        """,
        XY,
    ),
    "several-results": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = torch.relu(tmp_0)
        return (tmp_0, tmp_1)
        """,
        XY,
        strided=True,
    ),
    # reductions
    **{
        f"reduce-{place}": _reduced(text)
        for place, text in enumerate(
            (
                "X.sum(-1)",
                "X.mean(-1, keepdim=True)",
                "torch.mean(X, 1)",
                "X.sum(0)",
                "X.sum()",
                "X.mean((1, 2))",
                "X.amax(-1)",
                "X.amin(1, keepdim=True)",
                "X.var(-1)",
                "X.std(-1, unbiased=False)",
                "X.norm(p=2, dim=-1)",
                "torch.sum(X, 1, keepdim=True)",
                "torch.argmax(X, -1)",
                "X.max(dim=-1)[0]",
                "torch.nn.functional.normalize(X, p=2.0, dim=-1)",
                "torch.nn.functional.softmax(X, dim=1)",
                "torch.nn.functional.log_softmax(X, dim=-1)",
            )
        )
    },
    "any": Case(
        """
        tmp_0 = in_0 > 1.0
        tmp_1 = torch.any(tmp_0, -1)
        return (tmp_1,)
        """,
        X,
    ),
    "softmax": Case(
        """
        tmp_0 = in_0 / 8.0
        tmp_1 = tmp_0 + in_1
        tmp_2 = torch.nn.functional.softmax(tmp_1, dim=-1)
        return (tmp_2,)
        """,
        {"in_0": (2, 3, 5, 9), "in_1": (2, 1, 1, 9)},
        strided=True,
    ),
    "softmax-in-float32": Case(
        """
        tmp_0 = torch.nn.functional.softmax(in_0, dim=-1, dtype=torch.float32)
        tmp_1 = tmp_0.to(torch.float16)
        return (tmp_1,)
        """,
        X,
    ),
    "softmax-of-minus-infinity": Case(
        """
        tmp_0 = in_0.masked_fill(in_1, float('-inf'))
        tmp_1 = torch.nn.functional.softmax(tmp_0, dim=-1)
        return (tmp_1,)
        """,
        {"in_0": (40, 3), "in_1: bool": (40, 3)},
    ),
    "layer-norm": Case(
        """
        tmp_0 = in_2 + in_3
        tmp_1 = torch.nn.functional.layer_norm(tmp_0, (7,), in_0, in_1, 1e-05)
        return (tmp_0, tmp_1)
        """,
        {"in_0": (7,), "in_1": (7,), "in_2": (3, 5, 7), "in_3": (3, 5, 7)},
        strided=True,
    ),
    "layer-norm-of-two-axes": Case(
        """
        tmp_0 = torch.nn.functional.layer_norm(in_0, (5, 7), None, None, 1e-05)
        return (tmp_0,)
        """,
        X,
    ),
    "layer-norm-twice": Case(
        """
        tmp_0 = torch.nn.functional.layer_norm(in_2, (7,), in_0, in_1, 1e-05)
        tmp_1 = torch.nn.functional.layer_norm(tmp_0, (7,), in_0, in_1, 1e-05)
        return (tmp_1,)
        """,
        {"in_0": (7,), "in_1": (7,), "in_2": (3, 5, 7)},
        (F32, F16),
    ),
    "rms-norm-written-out": Case(
        """
        tmp_0 = in_1.float()
        tmp_1 = tmp_0.pow(2)
        tmp_2 = tmp_1.mean(-1, keepdim=True)
        tmp_3 = tmp_2 + 1e-06
        tmp_4 = torch.rsqrt(tmp_3)
        tmp_5 = tmp_0 * tmp_4
        tmp_6 = tmp_5.type_as(in_1)
        tmp_7 = in_0 * tmp_6
        return (tmp_7,)
        """,
        {"in_0": (7,), "in_1": (3, 5, 7)},
        strided=True,
    ),
    "batch-norm": Case(
        """
        tmp_0 = torch.nn.functional.batch_norm(in_0, in_1, in_2, in_3, in_4, False, 0.1, 1e-05)
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace=True)
        return (tmp_1,)
        """,
        {"in_0": (2, 6, 9, 8), "in_1": (6,), "in_2": (6,), "in_3": (6,), "in_4": (6,)},
        (F32,),
    ),
    "batch-norm-of-its-own-statistics": Case(
        """
        tmp_0 = torch.nn.functional.batch_norm(in_0, None, None, training=True, momentum=0.0, eps=1e-05)
        return (tmp_0,)
        """,
        IMAGE,
        (F32,),
    ),
    "standardised-weight": Case(
        """
        tmp_0 = in_0.reshape(1, 6, -1)
        tmp_1 = torch.nn.functional.batch_norm(tmp_0, None, None, in_1, None, training=True, momentum=0.0, eps=1e-05)
        tmp_2 = tmp_1.reshape_as(in_0)
        return (tmp_2,)
        """,
        {"in_0": (6, 5, 3, 3), "in_1": (6,)},
        (F32, BF16),
        beside=(
            Case(
                """
        tmp_0 = torch.nn.functional.batch_norm(in_0, None, None, training=True, momentum=0.0, eps=1e-05)
        return (tmp_0,)
        """,
                {"in_0": (1, 6, 9, 8)},
            ),
        ),
    ),
    "group-norm": Case(
        """
        tmp_0 = torch.nn.functional.group_norm(in_0, 3, in_1, in_2, 1e-05)
        tmp_1 = torch.nn.functional.silu(tmp_0)
        return (tmp_1,)
        """,
        {"in_0": (2, 6, 9, 8), "in_1": (6,), "in_2": (6,)},
    ),
    "norm-over-rows-and-columns": Case(
        """
        tmp_0 = torch.norm(in_0, p=2, dim=(1, 2), keepdim=True)
        tmp_1 = tmp_0.mean(dim=-1, keepdim=True)
        tmp_2 = tmp_1 + 1e-06
        tmp_3 = tmp_0 / tmp_2
        tmp_4 = in_0 * tmp_3
        return (tmp_4,)
        """,
        {"in_0": (2, 5, 6, 7)},
        (F32, F16),
    ),
    "reduce-then-look-along-the-rows": Case(
        """
        tmp_0 = torch.nn.functional.softmax(in_0, dim=-1)
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = torch.nn.functional.softmax(tmp_1, dim=-1)
        return (tmp_2,)
        """,
        X,
        (F32, F16),
    ),
    "long-rows": Case(
        """
        tmp_0 = in_0 * 2.0
        tmp_1 = torch.nn.functional.softmax(tmp_0, dim=-1)
        return (tmp_1,)
        """,
        {"in_0": (2, 20000)},
        (F32, F16),
    ),
    # views and rearrangements
    **{
        f"view-{place}": _viewed(text)
        for place, text in enumerate(
            (
                "X.transpose(1, 2)",
                "X.permute(0, 2, 3, 1)",
                "X.reshape(2, 3, 40)",
                "X.transpose(1, 2).reshape(2, 5, 24)",
                "X.view(2, 15, 8)",
                "X.view(2, 3, 5, 2, 4)",
                "X.flatten(1)",
                "X.unsqueeze(1)",
                "X[:, 0]",
                "X[..., 2:6]",
                "X[:, None, :, 1:, ::2]",
                "X[..., -1]",
                "X.transpose(1, 2).contiguous()",
                "X.chunk(2, dim=-1)[1]",
                "torch.split(X, 3, dim=-1)[2]",
                "torch.split(X, [1, 2], dim=1)[1]",
                "X.unbind(1)[2]",
                "X.narrow(2, 1, 3)",
                "X.narrow(2, -4, 3)",
                "X.flip(1).transpose(1, 2)",
                "X.repeat(1, 1, 1, 2).transpose(1, 2)",
                "torch.flip(X, [2])",
                "torch.roll(X, 2, -1)",
                "torch.roll(X, (1, -1), (2, 3))",
                "X.repeat(1, 2, 1, 3)",
                "torch.repeat_interleave(X, 2, dim=1)",
                "torch.nn.functional.pad(X, (1, 2))",
                "torch.nn.functional.pad(X, (0, 0, 2, 1), 'constant', 0.5)",
                "torch.nn.functional.pad(X, (1, -2))",
                "torch.nn.functional.pad(X, (2, 1, 3, 0), 'reflect')",
                "torch.cat((X, in_0), dim=1)",
                "torch.cat([X, in_0, X], -1)",
                "torch.stack((X, in_0), dim=2)",
                "torch.tril(X)",
                "torch.triu(X, 2)",
                "X.unfold(3, 3, 2)",
                "X[:, :, None].expand(2, 3, 4, 5, 8).reshape(2, 12, 5, 8)",
                "X.movedim(1, 3)",
                "torch.nn.functional.unfold(X, kernel_size=(2, 2), stride=(2, 2))",
            )
        )
    },
    "views-at-the-end": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = tmp_0.view(3, 5, 7, 1)
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        return (tmp_2,)
        """,
        XY,
    ),
    "views-of-one-result": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = tmp_0.transpose(0, 1)
        tmp_2 = tmp_0[:, 1:]
        return (tmp_1, tmp_2, tmp_0)
        """,
        XY,
    ),
    "views-alone": Case(
        """
        tmp_0 = in_0.view(2, 3, 5, 2, 4)
        tmp_1 = tmp_0.transpose(1, 3)
        tmp_2 = tmp_0[:, :, 1:]
        return (tmp_1, tmp_2)
        """,
        HEADS,
    ),
    "rotary": Case(
        """
        tmp_0 = in_0[..., 4:]
        tmp_1 = -tmp_0
        tmp_2 = in_0[..., :4]
        tmp_3 = torch.cat((tmp_1, tmp_2), dim=-1)
        tmp_4 = in_0 * in_1
        tmp_5 = tmp_3 * in_2
        tmp_6 = tmp_4 + tmp_5
        return (tmp_6,)
        """,
        {"in_0": (2, 3, 5, 8), "in_1": (1, 1, 5, 8), "in_2": (1, 1, 5, 8)},
        strided=True,
    ),
    "gate-of-halves": Case(
        """
        tmp_0 = in_0.chunk(2, dim=-1)
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        tmp_3 = torch.nn.functional.silu(tmp_1)
        tmp_4 = tmp_3 * tmp_2
        return (tmp_4,)
        """,
        {"in_0": (3, 5, 14)},
    ),
    # by index
    "embedding": Case(
        """
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, None, None, 2.0, False, False)
        tmp_1 = tmp_0 + in_2
        return (tmp_1,)
        """,
        {"in_0: int64": (2, 5), "in_1": (4, 7), "in_2": (2, 5, 7)},
    ),
    "gather": Case(
        """
        tmp_0 = torch.gather(in_0, 1, in_1)
        tmp_1 = tmp_0 * 2.0
        return (tmp_1,)
        """,
        {"in_0": (3, 4), "in_1: int64": (3, 6)},
    ),
    "index": Case(
        """
        tmp_0 = in_0[in_1]
        tmp_1 = tmp_0 * 2.0
        return (tmp_1,)
        """,
        {"in_0": (4, 5), "in_1: int64": (2, 3)},
    ),
    "index-of-rows-that-are-reduced": Case(
        """
        tmp_0 = torch.nn.functional.softmax(in_0, dim=-1)
        tmp_1 = tmp_0[in_1]
        tmp_2 = tmp_1 * 2.0
        return (tmp_2,)
        """,
        {"in_0": (4, 5), "in_1: int64": (2, 3)},
    ),
    "index-of-flat-rows-that-are-reduced": Case(
        """
        tmp_0 = torch.nn.functional.softmax(in_0, dim=-1)
        tmp_1 = tmp_0.reshape(-1)
        tmp_2 = tmp_1[in_1]
        tmp_3 = tmp_2 * 2.0
        return (tmp_3,)
        """,
        {"in_0": (4, 5), "in_1: int64": (7,)},
    ),
    "reduced-in-a-part-of-a-concatenation": Case(
        """
        tmp_0 = torch.nn.functional.relu(in_0)
        tmp_1 = torch.nn.functional.max_pool2d(in_1, 2, 1, 0, 1, ceil_mode=True, return_indices=False)
        tmp_2 = torch.cat([tmp_1, tmp_0], dim=1)
        return (tmp_2,)
        """,
        {"in_0": (2, 3, 4, 5), "in_1": (2, 2, 5, 6)},
    ),
    "assigned-to-a-slice": Case(
        """
        tmp_0 = torch.zeros(3, 5, device=device(type='cuda', index=0))
        tmp_0[slice(1, None, None)] = 2.0
        tmp_1 = tmp_0
        tmp_2 = tmp_0 + in_0
        tmp_3 = torch.tanh(tmp_2)
        return (tmp_3,)
        """,
        {"in_0": (3, 5)},
        (F32,),
    ),
    "index-of-a-middle-axis": Case(
        """
        tmp_0 = in_0[:, in_1]
        tmp_1 = tmp_0 * 2.0
        return (tmp_1,)
        """,
        {"in_0": (2, 4, 5), "in_1: int64": (3,)},
    ),
    # creation
    "causal-mask": Case(
        """
        tmp_0 = torch.arange(7, device=device(type='cuda', index=0))
        tmp_1 = in_0.view(-1, 1)
        tmp_2 = tmp_0 <= tmp_1
        tmp_3 = tmp_2[None, None, :, :]
        tmp_4 = tmp_3.expand(2, -1, -1, -1)
        tmp_5 = tmp_4 & in_1
        return (tmp_5,)
        """,
        {"in_0: int64": (7,), "in_1: bool": (2, 1, 1, 7)},
        (F32,),
    ),
    "arange-alone": Case(
        """
        tmp_0 = torch.arange(0, 20, device=device(type='cuda', index=0))
        tmp_1 = tmp_0.view(1, -1)
        tmp_2 = tmp_1.repeat(3, 1)
        return (tmp_2,)
        """,
        {},
        (F32,),
    ),
    "ones-and-tril": Case(
        """
        tmp_0 = torch.ones(5, 7, device=device(type='cuda', index=0), dtype=torch.bool)
        tmp_1 = torch.tril(tmp_0)
        tmp_2 = ~tmp_1
        tmp_3 = in_0.masked_fill(tmp_2, 0)
        return (tmp_3,)
        """,
        X,
    ),
    # products and windows, where nothing else gains
    "linear-alone": Case(
        """
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        return (tmp_0,)
        """,
        {"in_0": (3, 5, 7), "in_1": (4, 7), "in_2": (4,)},
        (F32, F16),
    ),
    "matmul-alone": Case(
        """
        tmp_0 = torch.matmul(in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 5, 7), "in_1": (2, 1, 7, 4)},
        (F32, F16),
    ),
    "einsum-alone": Case(
        """
        tmp_0 = torch.functional.einsum('bhld,bsd->bhls', in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 5, 8), "in_1": (2, 4, 8)},
        (F32,),
    ),
    "conv1d-alone": Case(
        """
        tmp_0 = torch.conv1d(in_0, in_1, in_2, (2,), (1,), (1,), 2)
        return (tmp_0,)
        """,
        {"in_0": (2, 4, 9), "in_1": (6, 2, 3), "in_2": (6,)},
        (F32,),
    ),
    "conv2d-alone": Case(
        """
        tmp_0 = torch.conv2d(in_0, in_1, None, (1, 2), (1, 0), (1, 1), 1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 6, 7), "in_1": (4, 3, 3, 2)},
        (F32, F16),
    ),
    "conv-transpose1d-alone": Case(
        """
        tmp_0 = torch.conv_transpose1d(in_0, in_1, None, (2,), (1,), (0,), 3, (1,))
        return (tmp_0,)
        """,
        {"in_0": (2, 6, 5), "in_1": (6, 1, 4)},
        (F32,),
    ),
    # products of matrices in tiles
    "matmul-tiles": Case(
        """
        tmp_0 = torch.matmul(in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (37, 41), "in_1": (41, 53)},
        strided=True,
    ),
    "matmul-tiles-broadcast": Case(
        """
        tmp_0 = torch.matmul(in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (2, 1, 19, 21), "in_1": (3, 21, 17)},
        (F32, F16),
        strided=True,
    ),
    "bmm-tiles": Case(
        """
        tmp_0 = torch.bmm(in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (5, 19, 70), "in_1": (5, 70, 23)},
        strided=True,
    ),
    "linear-tiles": Case(
        """
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        return (tmp_0,)
        """,
        {"in_0": (2, 9, 41), "in_1": (53, 41), "in_2": (53,)},
        strided=True,
    ),
    "linear-tiles-of-names": Case(
        """
        tmp_0 = torch._C._nn.linear(total, r0, blocks)
        tmp_1 = torch._C._nn.linear(tmp_0, stages, block_m)
        return (tmp_1,)
        """,
        {"total": (17, 18), "r0": (19, 18), "blocks": (19,), "stages": (20, 19), "block_m": (20,)},
        (F32,),
    ),
    "einsum-tiles-of-many": Case(
        """
        tmp_0 = torch.functional.einsum('bclhn,bcshn->bclsh', in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 17, 2, 19), "in_1": (2, 3, 18, 2, 19)},
        strided=True,
    ),
    "einsum-tiles-of-two-sums": Case(
        """
        tmp_0 = torch.functional.einsum('bildk,biokl->bold', in_0, in_1)
        return (tmp_0,)
        """,
        {"in_0": (2, 5, 3, 17, 4), "in_1": (2, 5, 18, 4, 3)},
        (F32, F16),
    ),
    "sum-of-products-tiles": Case(
        """
        tmp_0 = in_0.unsqueeze(1)
        tmp_1 = in_1.float() * tmp_0.float()
        tmp_2 = tmp_1.sum(dim=-1)
        tmp_3 = torch.relu(tmp_2)
        tmp_4 = tmp_3 + in_2
        return (tmp_2, tmp_4)
        """,
        {"in_0": (33, 20), "in_1": (17, 20), "in_2": (17,)},
        strided=True,
    ),
    "sum-of-products-tiles-turned": Case(
        """
        tmp_0 = in_0[:, None, :] * in_1
        tmp_1 = tmp_0.sum(dim=-1)
        tmp_2 = tmp_1.view(3, 11, 17).transpose(1, 2)
        tmp_3 = tmp_2.contiguous()
        return (tmp_3 * 0.5,)
        """,
        {"in_0: float32": (33, 20), "in_1: float64": (17, 20)},
        (F32,),
    ),
    "sum-of-products-tiles-in-float32": Case(
        """
        tmp_0 = in_0.float()[:, None, :] * in_1.float()
        tmp_1 = tmp_0.sum(dim=-1)
        tmp_2 = tmp_1.view(3, 11, 17).transpose(1, 2)
        tmp_3 = tmp_2.contiguous()
        return (tmp_3 * 0.5,)
        """,
        {"in_0": (33, 20), "in_1: bfloat16": (17, 20)},
    ),
    "sum-of-computed-products-tiles": Case(
        """
        tmp_0 = torch.tanh(in_0).unsqueeze(1)
        tmp_1 = in_1.float() * tmp_0.float()
        tmp_2 = tmp_1.sum(dim=-1, keepdim=True)
        tmp_3 = torch.nn.functional.softmax(tmp_2, dim=1)
        return (tmp_3,)
        """,
        {"in_0": (33, 20), "in_1": (17, 20)},
    ),
    "conv1d-tiles": Case(
        """
        tmp_0 = torch.conv1d(in_0, in_1, in_2, (2,), (3,), (2,), 2)
        return (tmp_0,)
        """,
        {"in_0": (2, 14, 41), "in_1": (36, 7, 3), "in_2": (36,)},
    ),
    "conv2d-tiles": Case(
        """
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (1, 2), (1, 0), (1, 1), 1)
        return (tmp_0,)
        """,
        {"in_0": (2, 5, 6, 9), "in_1": (18, 5, 3, 2), "in_2": (18,)},
        strided=True,
    ),
    "conv2d-tiles-of-patches": Case(
        """
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (4, 4), 'valid', (1, 1), 1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 17, 21), "in_1": (19, 3, 4, 4), "in_2": (19,)},
        (F32, F16),
    ),
    "conv3d-tiles": Case(
        """
        tmp_0 = torch.conv3d(in_0, in_1, None, (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)
        return (tmp_0,)
        """,
        {"in_0": (1, 3, 3, 4, 5), "in_1": (17, 3, 2, 3, 3)},
        (F32,),
    ),
    "conv-transpose1d-tiles": Case(
        """
        tmp_0 = torch.conv_transpose1d(in_0, in_1, in_2, (2,), (1,), (1,), 2, (1,))
        return (tmp_0,)
        """,
        {"in_0": (2, 8, 13), "in_1": (8, 17, 4), "in_2": (34,)},
    ),
    "conv-transpose1d-tiles-of-phases": Case(
        """
        tmp_0 = torch.conv_transpose1d(in_0, in_1, in_2, (4,), (2,), (0,), 1, (1,))
        return (tmp_0,)
        """,
        {"in_0": (2, 9, 13), "in_1": (9, 17, 8), "in_2": (17,)},
    ),
    "conv-transpose1d-tiles-of-groups": Case(
        """
        tmp_0 = torch.conv_transpose1d(in_0, in_1, None, (3,), (0,), (0,), 2, (1,))
        return (tmp_0,)
        """,
        {"in_0": (1, 24, 19), "in_1": (24, 16, 6)},
        (F32,),
    ),
    "linear-beside": Case(
        """
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        tmp_1 = torch.nn.functional.gelu(tmp_0)
        tmp_2 = tmp_1 + in_3
        return (tmp_2,)
        """,
        {"in_0": (3, 5, 7), "in_1": (4, 7), "in_2": (4,), "in_3": (3, 5, 4)},
        (F32, BF16),
    ),
    "between-two-products": Case(
        """
        tmp_0 = in_0 * 0.5
        tmp_1 = torch.matmul(tmp_0, in_1)
        tmp_2 = torch.relu(tmp_1)
        tmp_3 = torch.matmul(tmp_2, in_1)
        tmp_4 = tmp_3 + tmp_0
        return (tmp_4,)
        """,
        {"in_0": (3, 6, 6), "in_1": (3, 6, 6)},
        (F32,),
    ),
    "max-pool": Case(
        """
        tmp_0 = torch.nn.functional.relu(in_0)
        tmp_1 = torch.nn.functional.max_pool2d(tmp_0, 3, 2, 1, 1, ceil_mode=False, return_indices=False)
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "avg-pool": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, 2, 2, 0, False, True, None)
        tmp_1 = torch.nn.functional.silu(tmp_0)
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "adaptive-pool": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = torch.nn.functional.adaptive_avg_pool2d(tmp_0, 1)
        tmp_2 = tmp_1.flatten(1, -1)
        return (tmp_2,)
        """,
        {"in_0": (2, 6, 9, 8), "in_1": (2, 6, 1, 1)},
    ),
    "adaptive-pool-to-3x4": Case(
        """
        tmp_0 = torch.nn.functional.adaptive_avg_pool2d(in_0, (3, 4))
        return (tmp_0,)
        """,
        IMAGE,
        (F32,),
    ),
    # tensors that lie in different orders
    "transposed-sum": Case(
        "tmp_0 = in_0 + in_1.transpose(1, 2)\nreturn (tmp_0,)", {"in_0": (3, 37, 45), "in_1": (3, 45, 37)}, strided=True
    ),
    "transposed-copy": Case(
        "tmp_0 = torch.tanh(in_0)\ntmp_1 = tmp_0.transpose(0, 1).contiguous()\nreturn (tmp_1,)",
        {"in_0": (70, 130)},
        strided=True,
    ),
    "transposed-copy-of-few-columns": Case(
        "tmp_0 = in_0.transpose(1, 2).reshape(2, -1)\nreturn (tmp_0,)", {"in_0": (2, 500, 9)}, strided=True
    ),
    "channels-last-to-first": Case(
        """
        tmp_0 = in_0.permute(0, 3, 1, 2)
        tmp_1 = tmp_0 * in_1
        tmp_2 = in_2 + tmp_1
        return (tmp_2,)
        """,
        {"in_0": (2, 7, 9, 35), "in_1": (35, 1, 1), "in_2": (2, 35, 7, 9)},
        strided=True,
    ),
    "channels-last-everywhere": Case(
        """
        tmp_0 = in_0.permute(0, 3, 1, 2)
        tmp_1 = tmp_0 * in_1
        return (tmp_1,)
        """,
        {"in_0": (2, 7, 9, 35), "in_1": (35, 1, 1)},
    ),
    "heads-apart-and-turned": Case(
        """
        tmp_0 = in_0.view(2, 33, 3, 40)
        tmp_1 = tmp_0.permute(0, 2, 3, 1)
        tmp_2 = tmp_1.contiguous()
        return (tmp_2,)
        """,
        {"in_0": (2, 33, 120)},
    ),
    "turned-pieces-of-a-concatenation": Case(
        """
        tmp_0 = torch.cat((in_0, in_1), dim=1)
        tmp_1 = tmp_0.transpose(1, 2).contiguous()
        return (tmp_1,)
        """,
        {"in_0": (2, 33, 40), "in_1": (2, 8, 40)},
        strided=True,
    ),
    "transposed-nothing": Case(
        "tmp_0 = in_0 + in_1.transpose(1, 2)\nreturn (tmp_0,)", {"in_0": (0, 37, 45), "in_1": (0, 45, 37)}
    ),
    # images at other sizes
    **{
        f"interpolate-{place}": Case(
            f"tmp_0 = in_0 * 1.5\ntmp_1 = torch.nn.functional.interpolate(tmp_0, {given})\n"
            "tmp_2 = tmp_1 + 1.0\nreturn (tmp_2,)",
            {"in_0": shape},
        )
        for place, (given, shape) in enumerate(
            (
                ("None, 2.0, 'bilinear', False, recompute_scale_factor=None", (2, 6, 9, 8)),
                ("size=(13, 5), mode='bilinear', align_corners=True", (2, 6, 9, 8)),
                ("size=(4, 11), mode='bilinear', align_corners=False", (2, 3, 9, 8)),
                ("scale_factor=(1.7, 0.6), mode='bilinear', align_corners=False", (1, 3, 9, 8)),
                ("scale_factor=1.7, mode='bilinear', recompute_scale_factor=True", (1, 3, 9, 8)),
                ("scale_factor=1.5, mode='nearest'", (2, 3, 9, 8)),
                ("size=7", (2, 3, 9)),
                ("size=(1, 5), mode='bilinear', align_corners=True", (1, 2, 3, 1)),
            )
        )
    },
    # few rows, and long ones
    **{
        f"few-long-rows-{place}": Case(
            f"tmp_0 = in_0 * 0.5\ntmp_1 = {expression}\nreturn (tmp_1,)", {"in_0": shape}, dtypes
        )
        for place, (expression, shape, dtypes) in enumerate(
            (
                ("tmp_0.sum(-1)", (2, 40001), (F32, BF16)),
                ("tmp_0.mean()", (3, 5, 2201), (F32, F16)),
                ("tmp_0.amax(dim=(1, 2))", (2, 130, 260), (F32, BF16)),
                ("tmp_0.amin(dim=-1, keepdim=True)", (2, 33001), (F32,)),
                ("(tmp_0 > 3.5).any()", (80, 500), (F32,)),
                ("(tmp_0 < 1.0).all(dim=1)", (2, 33011), (F32,)),
                ("(tmp_0 > 0).sum()", (33011,), (F32,)),
                ("torch.nn.functional.softmax(tmp_0, dim=-1)", (2, 34000), (BF16,)),
                ("torch.nn.functional.layer_norm(tmp_0, (130, 260))", (2, 130, 260), (F16,)),
                ("tmp_0.norm(dim=(1, 2), keepdim=True) * tmp_0", (2, 45, 50, 19), (BF16,)),
                ("tmp_0.var(dim=(0, 2, 3))", (7, 2, 70, 70), (F32,)),
            )
        )
    },
    "few-long-rows-of-integers": Case(
        "tmp_0 = in_0 * 2\ntmp_1 = tmp_0.sum()\nreturn (tmp_1,)", {"in_0: int64": (5, 7001)}, (F32,)
    ),
    "mse-loss-of-many": Case(
        "tmp_0 = torch.nn.functional.mse_loss(in_0, in_1)\nreturn (tmp_0,)",
        {"in_0": (50, 700), "in_1": (50, 700)},
        (F16,),
        strided=True,
    ),
    "response-norm": Case(
        """
        tmp_0 = torch.nn.functional.gelu(in_0)
        tmp_1 = tmp_0.norm(dim=(1, 2), keepdim=True)
        tmp_2 = tmp_1.mean(dim=-1, keepdim=True)
        tmp_3 = tmp_2 + 1e-06
        tmp_4 = tmp_1 / tmp_3
        tmp_5 = tmp_0 * tmp_4
        return (tmp_5,)
        """,
        {"in_0": (1, 48, 45, 19)},
        (BF16,),
    ),
    # rows that lie side by side
    **{
        f"rows-beside-{place}": Case(
            f"tmp_0 = in_0 * 0.5\ntmp_1 = {expression}\nreturn (tmp_1,)", {"in_0": shape}, (F32, BF16), strided
        )
        for place, (expression, shape, strided) in enumerate(
            (
                ("tmp_0.mean(1)", (3, 41, 37), True),
                ("torch.nn.functional.softmax(tmp_0, dim=1)", (2, 37, 45), True),
                ("torch.nn.functional.softmax(tmp_0, dim=0)", (1100, 21), True),
                ("tmp_0.argmax(1)", (2, 1100, 5), False),
                ("tmp_0.mean(dim=(1, 2))", (2, 9, 7, 40), False),
                ("tmp_0.transpose(1, 2).sum(-1)", (2, 35, 40), False),
            )
        )
    },
    "layer-norm-of-transposed": Case(
        """
        tmp_0 = in_0.transpose(1, 2)
        tmp_1 = torch.nn.functional.layer_norm(tmp_0, (35,), in_1, in_2, 1e-05)
        return (tmp_1,)
        """,
        {"in_0": (2, 35, 49), "in_1": (35,), "in_2": (35,)},
        strided=True,
    ),
    "argmax-of-sums-of-long-rows": Case(
        """
        tmp_0 = in_0.sum(-1)
        tmp_1 = tmp_0.argmax(1)
        return (tmp_0, tmp_1)
        """,
        {"in_0: int64": (2, 300, 17000)},
        (F32,),
    ),
    "few-long-rows-of-nothing": Case("tmp_0 = in_0.sum(1)\nreturn (tmp_0,)", {"in_0": (0, 40000)}),
    # cumulative sums
    **{
        f"cumsum-{place}": Case(
            f"tmp_0 = {expression.replace('X', 'in_0')}\nreturn (tmp_0,)", {f"in_0: {dtype}": shape}, (F32,), True
        )
        for place, (expression, dtype, shape) in enumerate(
            (
                ("torch.cumsum(X, dim=1)", "int64", (3, 37)),
                ("X.cumsum(-1)", "bool", (5, 1, 33)),
                ("X.cumsum(axis=0)", "int32", (37, 5)),
                ("torch.cumsum(X, 1, dtype=torch.int32)", "int64", (2, 300, 3)),
                ("X.cumsum(dim=1, dtype=torch.uint8)", "uint8", (3, 200)),
                ("torch.cumsum(X, 0)", "int64", ()),
                ("torch.cumsum(X, 0)", "int64", (130,)),
                ("torch.cumsum(X, 1)", "int64", (7, 1)),
                ("torch.cumsum(X, 1)", "int64", (0, 5)),
                ("torch.cumsum(X, 1)", "int32", (5, 0)),
                ("X.reshape(3, -1).cumsum(1)", "int64", (3, 5, 7)),
                ("X.expand(4, 9).cumsum(1)", "int64", (4, 1)),
                ("X.cumsum(1).cumsum(1).cumsum(0)", "int32", (4, 9)),
                ("X.cumsum(0)", "int64", (4099, 20)),
            )
        )
    },
    "cumsum-of-a-comparison": Case(
        """
        tmp_0 = in_0.ne(1)
        tmp_1 = tmp_0.int()
        tmp_2 = torch.cumsum(tmp_1, dim=1)
        tmp_3 = tmp_2.type_as(tmp_1)
        tmp_4 = tmp_3 + 0
        tmp_5 = tmp_4 * tmp_1
        tmp_6 = tmp_5.long()
        tmp_7 = tmp_6 + 1
        return (tmp_7,)
        """,
        {"in_0: int64": (3, 37)},
        (F32,),
    ),
    "cumsum-of-floats-as-integers": Case(
        """
        tmp_0 = in_0 * 3.0
        tmp_1 = tmp_0.cumsum(-1, dtype=torch.int64)
        return (tmp_1,)
        """,
        X,
    ),
    "cumsum-of-floats": Case(
        """
        tmp_0 = in_0 * 3.0
        tmp_1 = tmp_0.cumsum(-1)
        tmp_2 = tmp_1 - 1.0
        return (tmp_2,)
        """,
        X,
    ),
    "cumsum-before-embedding": Case(
        """
        tmp_0 = torch.cumsum(in_0, dim=1)
        tmp_1 = tmp_0 + 1
        tmp_2 = torch.nn.functional.embedding(tmp_1, in_1, None, None, 2.0, False, False)
        tmp_3 = in_2 + tmp_2
        return (tmp_3, tmp_1)
        """,
        {"in_0: bool": (3, 37), "in_1": (40, 24), "in_2": (3, 37, 24)},
        strided=True,
    ),
    "cumsum-before-gather": Case(
        """
        tmp_0 = in_0.cumsum(1)
        tmp_1 = torch.gather(in_1, dim=1, index=tmp_0)
        tmp_2 = tmp_1.expand(3, 37)
        return (tmp_0, tmp_2)
        """,
        {"in_0: bool": (3, 37), "in_1: int64": (3, 40)},
        (F32,),
    ),
    "cumsum-twice": Case(
        """
        tmp_0 = in_0.cumsum(-1)
        tmp_1 = in_1.cumsum(-1)
        tmp_2 = tmp_0 * tmp_1
        return (tmp_2, tmp_0)
        """,
        {"in_0: int64": (3, 37), "in_1: bool": (3, 37)},
        (F32,),
    ),
    "cumsum-along-both-axes": Case(
        """
        tmp_0 = in_0.cumsum(0)
        tmp_1 = in_0.cumsum(1)
        tmp_2 = tmp_0 - tmp_1
        return (tmp_2,)
        """,
        {"in_0: int64": (37, 35)},
        (F32,),
    ),
    "cumsum-elsewhere": Case(
        """
        tmp_0 = in_0.cumsum(1)
        tmp_1 = tmp_0[(slice(None, None, None), slice(1, None, None))]
        tmp_2 = tmp_0[(slice(None, None, None), slice(None, -1, None))]
        tmp_3 = tmp_1 * tmp_2
        tmp_4 = tmp_0.flip(1)
        tmp_5 = tmp_0.transpose(0, 1) + 1
        tmp_6 = torch.nn.functional.pad(tmp_0, (1, 0))
        tmp_7 = tmp_0.reshape(3, 6, 5) * 2
        return (tmp_3, tmp_4, tmp_5, tmp_6, tmp_7)
        """,
        {"in_0: int64": (3, 30)},
        (F32,),
        strided=True,
    ),
    "cumsum-between-reductions": Case(
        """
        tmp_0 = in_0.sum(-1, keepdim=True)
        tmp_1 = in_0 - tmp_0
        tmp_2 = tmp_1.cumsum(-1)
        tmp_3 = tmp_2.amax(-1, keepdim=True)
        tmp_4 = tmp_2 - tmp_3
        tmp_5 = tmp_2.sum(0)
        return (tmp_4, tmp_5)
        """,
        {"in_0: int64": (3, 37)},
        (F32,),
    ),
    "cumsum-of-a-reshape": Case(
        """
        tmp_0 = in_0.reshape(3, -1)
        tmp_1 = tmp_0.cumsum(1)
        tmp_2 = tmp_1 - tmp_0
        return (tmp_2,)
        """,
        {"in_0: int64": (3, 5, 7)},
        (F32,),
        strided=True,
    ),
    "cumsum-of-sums-of-long-rows": Case(
        """
        tmp_0 = in_0.sum(-1)
        tmp_1 = tmp_0.cumsum(1)
        tmp_2 = tmp_1 - tmp_0
        return (tmp_2,)
        """,
        {"in_0: int64": (2, 300, 17000)},
        (F32,),
    ),
    "cumsum-beside-long-rows": Case(
        """
        tmp_0 = in_0.cumsum(-1)
        tmp_1 = tmp_0.unsqueeze(-1) * in_1
        tmp_2 = tmp_1.sum(-1)
        tmp_3 = tmp_2 + tmp_0
        return (tmp_3,)
        """,
        {"in_0: int64": (2, 3), "in_1: int64": (2, 3, 17000)},
        (F32,),
    ),
    "cumsum-of-a-row-longer-than-a-tile": Case(
        """
        tmp_0 = in_0 != 1
        tmp_1 = tmp_0.cumsum(-1)
        tmp_2 = tmp_1 - 1
        return (tmp_2,)
        """,
        {"in_0: int64": (2, 20000)},
        (F32,),
    ),
    # methods and functions that take their arguments in other orders
    "where-method": Case(
        """
        tmp_0 = in_0 > 0.1
        tmp_1 = in_0.where(tmp_0, in_1)
        tmp_2 = in_1.where(condition=tmp_0, other=tmp_1)
        return (tmp_1, tmp_2)
        """,
        XY,
    ),
    "where-by-name": Case(
        """
        tmp_0 = in_0 > 0.1
        tmp_1 = torch.where(condition=tmp_0, other=in_0, input=in_1)
        return (tmp_1,)
        """,
        XY,
    ),
    "pow-of-a-number": Case(
        """
        tmp_0 = torch.pow(2.0, in_0)
        tmp_1 = 3 ** in_0
        tmp_2 = in_0.abs().pow(in_1)
        return (tmp_0, tmp_1, tmp_2)
        """,
        XY,
    ),
    "torch-embedding": Case(
        """
        tmp_0 = torch.embedding(in_1, in_0)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        {"in_0: int64": (3, 4), "in_1": (4, 6)},
    ),
    "torch-batch-norm": Case(
        """
        tmp_0 = torch.batch_norm(in_0, in_1, in_2, in_3, in_4, False, 0.1, 1e-05, True)
        return (tmp_0,)
        """,
        {"in_0": (2, 6, 9, 8), "in_1": (6,), "in_2": (6,), "in_3": (6,), "in_4": (6,)},
    ),
    "unfold-in-order": Case(
        """
        tmp_0 = in_0 * 0.5
        tmp_1 = torch.nn.functional.unfold(tmp_0, 2, 1, 0, 2)
        return (tmp_1,)
        """,
        IMAGE,
    ),
    "lerp-addcmul-methods": Case(
        """
        tmp_0 = in_0.lerp(in_1, 0.3)
        tmp_1 = tmp_0.addcmul(in_0, in_1, value=0.5)
        tmp_2 = tmp_1.addcdiv(in_0, in_1.abs() + 1.0)
        return (tmp_2,)
        """,
        XY,
    ),
    "rsub-div-methods": Case(
        """
        tmp_0 = torch.rsub(in_0, in_1, alpha=2)
        tmp_1 = torch.rsub(tmp_0, 1.5)
        tmp_2 = tmp_1.div(in_1.abs() + 0.5, rounding_mode='floor')
        tmp_3 = in_0.true_divide(2.0)
        return (tmp_2, tmp_3)
        """,
        XY,
    ),
    "index-select-and-gather-methods": Case(
        """
        tmp_0 = in_0.index_select(1, in_1)
        tmp_1 = in_0.gather(1, in_2)
        tmp_2 = tmp_0 * 2.0
        tmp_3 = tmp_1 * 2.0
        return (tmp_2, tmp_3)
        """,
        {"in_0": (3, 5), "in_1: int64": (4,), "in_2: int64": (3, 2)},
    ),
    "types-by-method": Case(
        """
        tmp_0 = in_0.type(torch.float32)
        tmp_1 = in_0.type_as(in_1)
        tmp_2 = tmp_0 + tmp_1
        tmp_3 = in_1.expand_as(in_0) * tmp_2
        return (tmp_2, tmp_3)
        """,
        {"in_0": (3, 5), "in_1: float16": (5,)},
    ),
    "avg-pool-up": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, 3, 2, 0, True, True, None)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "avg-pool-up-padded": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, 3, 2, 1, True, True, None)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "avg-pool-without-padding": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, 3, 1, 1, False, False, None)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "avg-pool-up-without-padding": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, (2, 3), (3, 2), (1, 1), True, False, None)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "avg-pool-divisor": Case(
        """
        tmp_0 = torch._C._nn.avg_pool2d(in_0, 2, 2, 0, False, True, 3)
        tmp_1 = tmp_0 * 0.5
        return (tmp_1,)
        """,
        IMAGE,
        (F32, F16),
    ),
    "max-pool-up": Case(
        """
        tmp_0 = torch.nn.functional.max_pool2d(in_0, 3, 2, 1, 1, ceil_mode=True)
        tmp_1 = torch.nn.functional.max_pool2d(in_0, 2, 3, ceil_mode=True)
        return (tmp_0, tmp_1)
        """,
        IMAGE,
        (F32,),
    ),
    "conv1d-same": Case(
        """
        tmp_0 = torch.conv1d(in_0, in_1, in_2, (1,), 'same', (1,), 2)
        return (tmp_0,)
        """,
        {"in_0": (2, 4, 9), "in_1": (6, 2, 3), "in_2": (6,)},
        (F32,),
    ),
    "conv2d-same": Case(
        """
        tmp_0 = torch.conv2d(in_0, in_1, None, (1, 1), 'same', (1, 2), 1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 6, 7), "in_1": (4, 3, 4, 2)},
        (F32,),
    ),
    "conv2d-valid": Case(
        """
        tmp_0 = torch.conv2d(in_0, in_1, None, (1, 1), 'valid', (1, 2), 1)
        return (tmp_0,)
        """,
        {"in_0": (2, 3, 6, 7), "in_1": (4, 3, 4, 2)},
        (F32,),
    ),
    "repeat-interleave-to-a-size": Case(
        """
        tmp_0 = in_0.float()
        tmp_1 = tmp_0.repeat_interleave(3, dim=1, output_size=15)
        tmp_2 = torch._C._nn.pad(tmp_1, (0, 0, 0, 2), 'constant', 0)
        return (tmp_2,)
        """,
        X,
    ),
    "finite": Case(
        """
        tmp_0 = 1.0 / torch.relu(in_0)
        tmp_1 = torch.isfinite(tmp_0)
        tmp_2 = tmp_0.isinf()
        tmp_3 = torch.log(in_0)
        tmp_4 = torch.isfinite(tmp_3)
        return (tmp_1, tmp_2, tmp_4)
        """,
        X,
    ),
    "finite-integers": Case(
        """
        tmp_0 = in_0 + 1
        tmp_1 = torch.isfinite(tmp_0)
        tmp_2 = torch.isinf(tmp_0)
        return (tmp_1, tmp_2)
        """,
        {"in_0: int64": (3, 4)},
        (F32,),
    ),
    "full-like": Case(
        """
        tmp_0 = in_0 > 0.1
        tmp_1 = torch.full_like(in_0, float('-inf'))
        tmp_2 = torch.full_like(in_0, 0.3, dtype=torch.float32)
        tmp_3 = torch.where(tmp_0, tmp_2, tmp_1)
        return (tmp_3,)
        """,
        X,
    ),
    "diff": Case(
        """
        tmp_0 = torch.diff(in_0)
        tmp_1 = torch.diff(in_0, dim=1, prepend=in_1)
        return (tmp_0, tmp_1)
        """,
        {"in_0": (3, 5, 7), "in_1": (3, 1, 7)},
    ),
    "diff-of-integers": Case(
        """
        tmp_0 = torch.diff(in_0, dim=-1, prepend=in_1)
        tmp_1 = tmp_0 != 1
        tmp_2 = torch.diff(tmp_1)
        return (tmp_1, tmp_2)
        """,
        {"in_0: int64": (3, 5), "in_1: int64": (3, 1)},
        (F32,),
    ),
    "abs-of-python": Case(
        """
        tmp_0 = abs(in_0)
        tmp_1 = pow(tmp_0, 2) + 1.0
        return (tmp_1,)
        """,
        X,
    ),
    "views-of-one-result-that-a-product-reads": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0[:, :, 2:5]
        tmp_2 = tmp_0[:, 1]
        tmp_3 = tmp_2.unsqueeze(-1)
        tmp_4 = tmp_0.transpose(0, 1)
        tmp_5 = torch.matmul(tmp_4, tmp_4.transpose(1, 2))
        return (tmp_1, tmp_2, tmp_3, tmp_5)
        """,
        XY,
        strided=True,
    ),
    "flip-of-transposed": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0.transpose(0, 2)
        tmp_2 = tmp_1.flip(1)
        tmp_3 = in_0.transpose(1, 2).flip(0, 2)
        return (tmp_2, tmp_3)
        """,
        XY,
    ),
    "views-in-the-shape-of-what-is-not-kept": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0.flatten(0, 1)
        tmp_2 = torch.exp(tmp_1)
        tmp_3 = tmp_2.reshape_as(tmp_0)
        tmp_4 = tmp_1 + 1
        tmp_5 = tmp_4.view_as(tmp_0)
        tmp_6 = tmp_5.transpose(0, 1)
        return (tmp_3, tmp_6)
        """,
        XY,
    ),
    "a-view-and-what-it-shows": Case(
        """
        tmp_0 = in_0 * 0.5
        tmp_1 = tmp_0.view(15, 7)
        tmp_2 = tmp_1.expand(2, 15, 7)
        tmp_3 = tmp_2 + 1.0
        return (tmp_0, tmp_1, tmp_2, tmp_3)
        """,
        X,
    ),
    "views-of-a-changed-input": Case(
        """
        tmp_0 = torch.nn.functional.relu(in_0, inplace=True)
        tmp_1 = tmp_0[1:]
        tmp_2 = tmp_0.transpose(0, 1)
        return (tmp_1, tmp_2)
        """,
        X,
    ),
    "chunks-of-a-result": Case(
        """
        tmp_0 = in_0.sigmoid()
        tmp_1 = tmp_0.chunk(3, dim=-1)
        tmp_2 = tmp_1[0]
        tmp_3 = tmp_1[2]
        tmp_4 = tmp_2.unbind(0)
        tmp_5 = tmp_4[1]
        return (tmp_2, tmp_3, tmp_5)
        """,
        X,
    ),
    # sizes
    "sizes-that-a-view-joins-otherwise": Case(
        """
        tmp_0 = in_0.exp()
        tmp_1 = tmp_0.view(3, 4, -1, 5)
        tmp_2 = tmp_1.transpose(1, 2)
        return (tmp_2,)
        """,
        {"in_0": (3, 4, 10)},
        (F32,),
        refused={"in_0": (4, 3, 10)},
    ),
    "nothing": Case(
        """
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.softmax(tmp_0, dim=-1)
        return (tmp_0, tmp_1)
        """,
        {"in_0": (0, 5), "in_1": (0, 5)},
    ),
    "single-elements": Case(
        """
        tmp_0 = in_0 * in_1
        tmp_1 = tmp_0.sum(-1)
        return (tmp_1,)
        """,
        {"in_0": (1, 1), "in_1": (1,)},
    ),
    "names-that-passes-use": Case(
        """
        plan = key + rows
        index = torch.nn.functional.softmax(plan, dim=-1)
        start = index * i0
        return (start, plan)
        """,
        {"key": (3, 5), "rows": (3, 5), "i0": (5,)},
    ),
    "spelled-in-several-ways": Case(
        """
        tmp_0 = in_0.mean(dim=-1, keepdim=True)
        tmp_1 = tmp_0.reshape(3, -1)
        tmp_2 = torch.nn.functional.silu(tmp_1, inplace=False)
        return (tmp_2,)
        """,
        {"in_0": (3, 2, 5, 7)},
        beside=(
            Case(
                """
                tmp_0 = in_0.mean(-1, keepdim=True)
                tmp_1 = tmp_0.reshape((3, -1))
                tmp_2 = torch.nn.functional.silu(tmp_1)
                return (tmp_2,)
                """,
                {"in_0": (3, 5, 7)},
            ),
            Case(
                """
                tmp_0 = in_0.mean([-1], True)
                tmp_1 = tmp_0.reshape(shape=(3, -1))
                tmp_2 = torch.nn.functional.silu(tmp_1, False)
                return (tmp_2,)
                """,
                {"in_0": (3, 7)},
            ),
        ),
    ),
    "ordered-in-several-ways": Case(
        """
        tmp_0 = in_0.exp()
        tmp_1 = in_1.sin()
        tmp_2 = tmp_0 * tmp_1
        return (tmp_2,)
        """,
        {"in_0": (3, 5), "in_1": (5,)},
        beside=(
            Case(
                """
                tmp_0 = in_0.sin()
                tmp_1 = in_1.exp()
                tmp_2 = tmp_1 * tmp_0
                return (tmp_2,)
                """,
                {"in_0": (3, 5, 7), "in_1": (7,)},
            ),
        ),
    ),
    "no-dimensions": Case(
        """
        tmp_0 = in_0.exp()
        tmp_1 = tmp_0 * in_1
        return (tmp_1, tmp_0)
        """,
        {"in_0": (), "in_1": (1, 3)},
    ),
    "roots-in-float64": Case(
        """
        tmp_0 = in_0.abs().sqrt()
        tmp_1 = in_0.std(-1)
        tmp_2 = torch.norm(in_0, dim=-1)
        return (tmp_0 + 1, tmp_1, tmp_2)
        """,
        X,
        ("float64",),
    ),
    "inverted-bits": Case("return (torch.bitwise_not(in_0) ^ 3,)", X, ("int8", "uint8", "int64")),
    "axes-of-tensors-in-a-list": Case(
        """
        tmp_0 = torch.atleast_2d([in_0, in_1])
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        return (tmp_1 + 1, tmp_2 * 2)
        """,
        {"in_0": (3, 5, 7), "in_1": (5,)},
        (F32,),
    ),
}


def _taken(shapes: Mapping[str, tuple[int, ...]], subgraph: Subgraph, passes: "Loaded") -> str:
    """What is wrong if the passes are to refuse inputs of these shapes: "" if nothing is."""
    from tests.contract.trying_rules import difference

    other = replace(subgraph, inputs=tuple(replace(each, shape=shapes[each.name]) for each in subgraph.inputs))
    try:
        difference(other, passes)
    except TypeError as error:
        return "" if str(error) == OTHER_SIZES else str(error)
    return f"{dict(shapes)} are not refused"


def main(names: Sequence[str]) -> None:
    from passnet_core.solvers.rules.solver import written
    from tests.contract.trying_rules import difference
    from tests.loading import Loaded, loaded

    problems: dict[str, str] = {}
    for name in names:
        case = CASES[name]
        task = case.task(name)
        found: list[str] = []
        try:
            bundle = written(task).bundle
            orders = (
                list(permutations(range(len(bundle.passes)))) if case.beside else [tuple(range(len(bundle.passes)))]
            )
            with loaded(bundle) as given:
                for order, subgraph in product(orders, task.subgraphs):
                    passes = Loaded([given.traced[place] for place in order], given.functions)
                    found.append(difference(subgraph, passes))
                    if case.strided and subgraph is task.subgraphs[-1]:
                        found.append(difference(subgraph, passes, strided=True))
                    if case.refused is not None:
                        found.append(_taken(case.refused, subgraph, passes))
        except Exception as error:  # a case that fails is reported as one, and the others are tried
            found.append(f"{type(error).__name__}: {error}")
        problems[name] = "; ".join(filter(None, found))
    print(json.dumps(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
