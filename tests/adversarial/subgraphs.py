"""The subgraphs that the corpus rewrites, small so that a call in Triton's interpreter takes milliseconds."""

from collections.abc import Mapping

from passnet_core.records import Subgraph, TensorSpec

HEAD = """import torch
from torch import device

class GraphModule(torch.nn.Module):
"""

ROWS, COLUMNS = 8, 65


def _input(name: str, *shape: int, dtype: str = "float32", mean: float = 0.1, std: float = 1.0) -> TensorSpec:
    return TensorSpec(name, shape, dtype, mean=mean, std=std)


def _weight(name: str, *shape: int, dtype: str = "float32", mean: float = 1.0) -> TensorSpec:
    """A parameter as recorded from a freshly initialised model: all elements are equal."""
    return TensorSpec(name, shape, dtype, mean=mean, std=0.0, original_name=f"L_self_parameters_{name}_")


def _subgraph(name: str, body: str, *inputs: TensorSpec) -> Subgraph:
    names = ", ".join(each.name for each in inputs)
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    code = f"{HEAD}    def forward(self, {names}):\n{lines}\n"
    return Subgraph(id=f"{inputs[0].dtype}/0/{name}", task_id=name, source_model="none", code=code, inputs=inputs)


def _row_pair(dtype: str = "float32") -> tuple[TensorSpec, TensorSpec]:
    return _input("in_0", ROWS, COLUMNS, dtype=dtype), _input("in_1", ROWS, COLUMNS, dtype=dtype)


ADD_RELU = """
tmp_0 = in_0 + in_1
tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
tmp_2 = tmp_1.mean(-1)
return (tmp_1, tmp_2)
"""

ADD_RELU_ALONE = """
tmp_0 = in_0 + in_1
tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
return (tmp_1,)
"""

SCALED_TWICE = """
tmp_0 = in_0 * 0.5
tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
tmp_2 = in_1 * 3.0
tmp_3 = torch.nn.functional.relu(tmp_2, inplace = False)
return (tmp_1, tmp_3)
"""

SCALE_BIAS = """
tmp_0 = in_2 * in_0
tmp_1 = tmp_0 + in_1
return (tmp_1,)
"""

LAYERNORM = """
tmp_0 = torch.nn.functional.layer_norm(in_2, (64,), in_0, in_1, 1e-05)
return (tmp_0,)
"""

SOFTMAX_MASK = """
tmp_0 = in_0 + in_1
tmp_1 = torch.nn.functional.softmax(tmp_0, dim = -1)
return (tmp_1,)
"""

LINEAR = """
tmp_0 = torch.nn.functional.linear(in_2, in_0, in_1)
return (tmp_0,)
"""

GATHER = """
tmp_0 = torch.nn.functional.embedding(in_1, in_0)
tmp_1 = tmp_0 * 8.0
return (tmp_1,)
"""

SPLIT_GATE = """
tmp_0 = in_0.chunk(2, dim = -1)
tmp_1 = tmp_0[0]
tmp_2 = tmp_0[1]
tmp_3 = torch.sigmoid(tmp_2)
tmp_4 = tmp_1 * tmp_3
return (tmp_4,)
"""

BATCHNORM = """
tmp_0 = torch.nn.functional.batch_norm(in_4, in_0, in_1, in_3, in_2, False, 0.1, 1e-05)
return (tmp_0,)
"""

TWO_OUTPUTS = """
tmp_0 = in_0 + in_1
tmp_1 = tmp_0 * tmp_0
tmp_2 = tmp_1.mean(-1, keepdim = True)
tmp_3 = tmp_2 + 1e-06
tmp_4 = torch.rsqrt(tmp_3)
tmp_5 = tmp_0 * tmp_4
return (tmp_0, tmp_5)
"""

DIFFERENCE_OF_TRANSPOSED = """
tmp_0 = in_0.transpose(0, 1)
tmp_1 = tmp_0 - in_1
return (tmp_1,)
"""

ROTARY_SHAPES = ((2, 3, 5, 16), (5, 16), (5, 16))
ROTARY = """
tmp_0 = in_0[(Ellipsis, slice(None, 8, None))]
tmp_1 = in_0[(Ellipsis, slice(8, None, None))]
tmp_2 = -tmp_1
tmp_3 = torch.cat((tmp_2, tmp_0), dim = -1)
tmp_4 = in_0 * in_1
tmp_5 = tmp_3 * in_2
tmp_6 = tmp_4 + tmp_5
return (tmp_6,)
"""

SUBGRAPHS: Mapping[str, Subgraph] = {
    each.task_id: each
    for each in (
        _subgraph("add-relu", ADD_RELU, *_row_pair()),
        _subgraph("add-relu-tall", ADD_RELU, _input("in_0", 16, COLUMNS), _input("in_1", 16, COLUMNS)),
        _subgraph("add-relu-alone", ADD_RELU_ALONE, *_row_pair()),
        _subgraph("add-relu-large", ADD_RELU_ALONE, _input("in_0", 2048, 4096), _input("in_1", 2048, 4096)),
        _subgraph("add-relu-half", ADD_RELU, *_row_pair("float16")),
        _subgraph("scaled-twice", SCALED_TWICE, *_row_pair()),
        _subgraph("scale-bias", SCALE_BIAS, _weight("in_0", 64), _weight("in_1", 64, mean=0.0), _input("in_2", 8, 64)),
        _subgraph(
            "layernorm-affine", LAYERNORM, _weight("in_0", 64), _weight("in_1", 64, mean=0.0), _input("in_2", 2, 9, 64)
        ),
        _subgraph(
            "layernorm-affine-half",
            LAYERNORM,
            _weight("in_0", 64, dtype="float16"),
            _weight("in_1", 64, dtype="float16", mean=0.0),
            _input("in_2", 2, 9, 64, dtype="float16"),
        ),
        _subgraph("softmax-mask", SOFTMAX_MASK, _input("in_0", 2, 8, 65), _input("in_1", 1, 1, 65, mean=0.0, std=0.0)),
        _subgraph(
            "matmul-bias",
            LINEAR,
            _input("in_0", 48, 64, std=0.1),
            _weight("in_1", 48, mean=0.0),
            _input("in_2", 16, 64),
        ),
        _subgraph(
            "linear-with-parameters",
            LINEAR,
            TensorSpec("in_0", (48, 64), "float32", mean=0.0, std=0.1, original_name="L_self_parameters_weight_"),
            _weight("in_1", 48, mean=0.0),
            _input("in_2", 16, 64),
        ),
        _subgraph(
            "matmul-bias-half",
            LINEAR,
            _input("in_0", 48, 64, dtype="float16", std=0.1),
            _weight("in_1", 48, dtype="float16", mean=0.0),
            _input("in_2", 16, 64, dtype="float16"),
        ),
        _subgraph(
            "gather-embedding", GATHER, _input("in_0", 50, 32), TensorSpec("in_1", (3, 7), "int64", low=0, high=49)
        ),
        _subgraph("split-gate", SPLIT_GATE, _input("in_0", 8, 96)),
        _subgraph("split-gate-large", SPLIT_GATE, _input("in_0", 8, 96, std=20.0)),
        _subgraph(
            "batchnorm",
            BATCHNORM,
            TensorSpec("in_0", (12,), "float32", mean=0.0, std=0.0, original_name="L_self_buffers_running_mean_"),
            TensorSpec("in_1", (12,), "float32", mean=1.0, std=0.0, original_name="L_self_buffers_running_var_"),
            _weight("in_2", 12, mean=0.0),
            _weight("in_3", 12),
            _input("in_4", 2, 12, 5, 5),
        ),
        _subgraph("two-outputs", TWO_OUTPUTS, *_row_pair()),
        _subgraph("gelu", "tmp_0 = torch.nn.functional.gelu(in_0)\nreturn (tmp_0,)", _input("in_0", 8, 65)),
        _subgraph("exp-sum", "tmp_0 = torch.exp(in_0)\ntmp_1 = tmp_0.sum(-1)\nreturn (tmp_1,)", _input("in_0", 8, 65)),
        _subgraph("row-sum", "tmp_0 = in_0.sum(-1)\nreturn (tmp_0,)", _input("in_0", 70, 130)),
        _subgraph(
            "row-sum-half", "tmp_0 = in_0.sum(-1)\nreturn (tmp_0,)", _input("in_0", 32, 1000, dtype="float16", mean=0.0)
        ),
        _subgraph("row-var", "tmp_0 = in_0.var(-1)\nreturn (tmp_0,)", _input("in_0", 8, 65)),
        _subgraph("square", DIFFERENCE_OF_TRANSPOSED, _input("in_0", 24, 24), _input("in_1", 24, 24)),
        _subgraph(
            "max-share",
            "tmp_0 = in_0.amax(-1, keepdim = True)\ntmp_1 = in_0 == tmp_0\ntmp_2 = tmp_1.sum(-1)\nreturn (tmp_2,)",
            _input("in_0", 8, 65),
        ),
        _subgraph("leaky", "tmp_0 = torch.nn.functional.leaky_relu(in_0, 0.2)\nreturn (tmp_0,)", _input("in_0", 8, 65)),
        _subgraph("add-relu-bfloat16", ADD_RELU, *_row_pair("bfloat16")),
        _subgraph("add-relu-scalar", ADD_RELU_ALONE, _input("in_0", 1), _input("in_1", 1)),
        _subgraph(
            "chain",
            "tmp_0 = in_0 * 0.5\ntmp_1 = torch.tanh(tmp_0)\ntmp_2 = tmp_1 + 1.0\ntmp_3 = tmp_2 * in_0\nreturn (tmp_3,)",
            _input("in_0", 8, 65),
        ),
        _subgraph(
            "gelu-tanh",
            "tmp_0 = torch.nn.functional.gelu(in_0, approximate = 'tanh')\nreturn (tmp_0,)",
            _input("in_0", 8, 65),
        ),
        _subgraph(
            "silu-gate",
            "tmp_0 = torch.nn.functional.silu(in_0, inplace = False)\ntmp_1 = tmp_0 * in_1\nreturn (tmp_1,)",
            *_row_pair(),
        ),
        _subgraph("rotary", ROTARY, *(_input(f"in_{place}", *shape) for place, shape in enumerate(ROTARY_SHAPES))),
        _subgraph(
            "permute",
            "tmp_0 = in_0.permute(0, 2, 1, 3)\ntmp_1 = tmp_0.contiguous()\nreturn (tmp_1,)",
            _input("in_0", 2, 5, 3, 16),
        ),
        _subgraph(
            "transpose",
            "tmp_0 = in_0.transpose(0, 1)\ntmp_1 = tmp_0.contiguous()\nreturn (tmp_1,)",
            _input("in_0", 33, 20),
        ),
        _subgraph(
            "clamp-where",
            "tmp_0 = torch.clamp(in_0, -1.0, 1.0)\ntmp_1 = torch.where(in_1, tmp_0, in_0)\nreturn (tmp_1,)",
            _input("in_0", 8, 65),
            TensorSpec("in_1", (8, 65), "bool"),
        ),
        _subgraph("outer", "tmp_0 = torch.outer(in_0, in_1)\nreturn (tmp_0,)", _input("in_0", 20), _input("in_1", 33)),
        _subgraph("cumsum", "tmp_0 = torch.cumsum(in_0, -1)\nreturn (tmp_0,)", _input("in_0", 8, 64)),
        _subgraph("argmax", "tmp_0 = torch.argmax(in_0, -1)\nreturn (tmp_0,)", _input("in_0", 8, 65)),
        _subgraph("greater", "tmp_0 = in_0 + in_1\ntmp_1 = tmp_0 > 0.5\nreturn (tmp_1,)", *_row_pair()),
        _subgraph(
            "buckets",
            "tmp_0 = in_0 * 3\ntmp_1 = tmp_0 + in_1\ntmp_2 = tmp_1 % 7\nreturn (tmp_2,)",
            TensorSpec("in_0", (8, 65), "int64", low=0, high=1000),
            TensorSpec("in_1", (8, 65), "int64", low=0, high=1000),
        ),
        _subgraph(
            "widen",
            "tmp_0 = in_0.float()\ntmp_1 = tmp_0 * 2.0\nreturn (tmp_1,)",
            _input("in_0", 8, 65, dtype="float16"),
        ),
        _subgraph(
            "linear-relu",
            "tmp_0 = torch.nn.functional.linear(in_2, in_0, in_1)\n"
            "tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)\nreturn (tmp_1,)",
            _input("in_0", 48, 64, std=0.1),
            _weight("in_1", 48, mean=0.0),
            _input("in_2", 16, 64),
        ),
        _subgraph(
            "matmul",
            "tmp_0 = torch.matmul(in_0, in_1)\nreturn (tmp_0,)",
            _input("in_0", 33, 40),
            _input("in_1", 40, 20),
        ),
        _subgraph(
            "softmax-fill",
            "tmp_0 = in_0.masked_fill(in_1, float('-inf'))\n"
            "tmp_1 = torch.nn.functional.softmax(tmp_0, dim = -1)\nreturn (tmp_1,)",
            _input("in_0", 8, 65),
            TensorSpec("in_1", (8, 65), "bool"),
        ),
        _subgraph(
            "softmax", "tmp_0 = torch.nn.functional.softmax(in_0, dim = -1)\nreturn (tmp_0,)", _input("in_0", 8, 200)
        ),
        _subgraph("total", "tmp_0 = in_0.sum()\nreturn (tmp_0,)", _input("in_0", 40, 50)),
        _subgraph("column-mean", "tmp_0 = in_0.mean(0)\nreturn (tmp_0,)", _input("in_0", 40, 50)),
        _subgraph(
            "two-activations",
            "tmp_0 = torch.nn.functional.relu(in_0, inplace = False)\ntmp_1 = torch.sigmoid(in_1)\n"
            "tmp_2 = tmp_0 + 1.0\nreturn (tmp_2, tmp_1)",
            *_row_pair(),
        ),
        _subgraph(
            "residual-layernorm",
            "tmp_0 = in_2 + in_3\n"
            "tmp_1 = torch.nn.functional.layer_norm(tmp_0, (64,), in_0, in_1, 1e-05)\nreturn (tmp_0, tmp_1)",
            _weight("in_0", 64),
            _weight("in_1", 64, mean=0.0),
            _input("in_2", 9, 64),
            _input("in_3", 9, 64),
        ),
        _subgraph(
            "planes",
            "tmp_0 = in_0 * in_1\ntmp_1 = tmp_0 + in_2\nreturn (tmp_1,)",
            _input("in_0", 2, 3, 7, 11),
            _weight("in_1", 1, 3, 1, 1),
            _weight("in_2", 1, 3, 1, 1, mean=0.0),
        ),
        _subgraph(
            "add-relu-alone-bfloat16",
            ADD_RELU_ALONE,
            _input("in_0", 32, 512, dtype="bfloat16"),
            _input("in_1", 32, 512, dtype="bfloat16"),
        ),
        _subgraph(
            "gelu-bfloat16",
            "tmp_0 = torch.nn.functional.gelu(in_0)\nreturn (tmp_0,)",
            _input("in_0", 32, 512, dtype="bfloat16"),
        ),
        _subgraph(
            "row-mean-bfloat16",
            "tmp_0 = in_0.mean(-1)\nreturn (tmp_0,)",
            _input("in_0", 1024, 100, dtype="bfloat16"),
        ),
        _subgraph(
            "angles-bfloat16",
            "tmp_0 = in_0.float()\ntmp_1 = in_1.float()\ntmp_2 = tmp_0 * tmp_1\ntmp_3 = torch.cos(tmp_2)\n"
            "return (tmp_3,)",
            _input("in_0", 40, 1, dtype="bfloat16"),
            _input("in_1", 1, 24, dtype="bfloat16"),
        ),
        _subgraph(
            "layernorm-one-row-half",
            "tmp_0 = torch.nn.functional.layer_norm(in_2, (64,), in_0, in_1, 1e-12)\nreturn (tmp_0,)",
            _weight("in_0", 64, dtype="float16"),
            _weight("in_1", 64, dtype="float16", mean=0.0),
            _input("in_2", 1, 64, dtype="float16"),
        ),
        _subgraph(
            "embedding",
            "tmp_0 = torch.nn.functional.embedding(in_1, in_0)\nreturn (tmp_0,)",
            _input("in_0", 300, 32),
            TensorSpec("in_1", (3, 7), "int64", low=2, high=41),
        ),
        _subgraph(
            "saturated",
            "tmp_0 = in_0 + in_1\ntmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)\ntmp_2 = torch.tanh(tmp_1)\n"
            "tmp_3 = tmp_2 * in_0\nreturn (tmp_3,)",
            _input("in_0", 8, 65, mean=60.0),
            _input("in_1", 8, 65),
        ),
        _subgraph(
            "integer-factor",
            "tmp_0 = in_1.float()\ntmp_1 = in_0 * tmp_0\nreturn (tmp_1,)",
            _input("in_0", 8, 65),
            TensorSpec("in_1", (8, 65), "int64", low=0, high=1),
        ),
        _subgraph(
            "clamp-to-half",
            "tmp_0 = in_0 * 4.0\ntmp_1 = torch.clamp(tmp_0, -64504.0, 64504.0)\n"
            "tmp_2 = tmp_1.to(torch.float16)\nreturn (tmp_2,)",
            _input("in_0", 8, 65),
        ),
        _subgraph(
            "norm-of-all",
            "tmp_0 = in_0 * in_0\ntmp_1 = tmp_0.sum()\ntmp_2 = tmp_1 + 1e-06\ntmp_3 = torch.rsqrt(tmp_2)\n"
            "tmp_4 = in_0 * tmp_3\nreturn (tmp_4,)",
            _input("in_0", 8, 65),
        ),
        _subgraph(
            "soft-cap-half",
            "tmp_0 = in_0 / 30.0\ntmp_1 = torch.tanh(tmp_0)\ntmp_2 = tmp_1 * 30.0\nreturn (tmp_2,)",
            _input("in_0", 16, 512, dtype="float16", std=20.0),
        ),
    )
}
