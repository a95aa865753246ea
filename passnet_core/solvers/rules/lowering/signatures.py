"""Which parameter of an operation each of its arguments is for."""

from collections.abc import Mapping, Sequence

from passnet_core.graphs.ir import Node, NodeKind
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import PLACEMENT, Argument
from passnet_core.solvers.rules.values import Value

SIGNATURES: Mapping[str, str] = {
    "layer_norm": "x shape weight bias eps",
    "rms_norm": "x shape weight eps",
    "batch_norm": "x mean var weight bias training momentum eps",
    "group_norm": "x groups weight bias eps",
    "normalize": "x p dim eps",
    "softmax": "x dim dtype",
    "log_softmax": "x dim dtype",
    "dropout": "x p training inplace",
    "gelu": "x approximate",
    **dict.fromkeys(("relu", "relu6", "silu", "mish", "hardsigmoid", "hardswish"), "x inplace"),
    "leaky_relu": "x slope inplace",
    "elu": "x alpha inplace",
    "hardtanh": "x low high inplace",
    "softplus": "x beta threshold",
    "clamp": "x min max",
    "clamp_min": "x min",
    "clamp_max": "x max",
    "sum": "x dim keepdim dtype",
    "mean": "x dim keepdim dtype",
    "amax": "x dim keepdim",
    "amin": "x dim keepdim",
    "any": "x dim keepdim",
    "all": "x dim keepdim",
    "argmax": "x dim keepdim",
    "argmin": "x dim keepdim",
    "max": "x dim keepdim",
    "min": "x dim keepdim",
    "var": "x dim unbiased keepdim correction",
    "std": "x dim unbiased keepdim correction",
    "norm": "x p dim keepdim dtype",
    "vector_norm": "x p dim keepdim dtype",
    "linalg_vector_norm": "x p dim keepdim dtype",
    "cumsum": "x dim dtype",
    "interpolate": "x size scale_factor mode align_corners recompute_scale_factor antialias",
    "transpose": "x one other",
    "swapaxes": "x one other",
    "flatten": "x start end",
    "unflatten": "x dim sizes",
    "unsqueeze": "x dim",
    "squeeze": "x dim",
    "cat": "tensors dim",
    "concat": "tensors dim",
    "stack": "tensors dim",
    "chunk": "x chunks dim",
    "split": "x size dim",
    "unbind": "x dim",
    "narrow": "x dim start length",
    "select": "x dim index",
    "pad": "x pad mode value",
    "embedding": "index weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
    "roll": "x shifts dims",
    "flip": "x dims",
    "repeat_interleave": "x repeats dim output_size",
    "masked_fill": "x mask value",
    "where": "condition x y",
    "tril": "x diagonal",
    "triu": "x diagonal",
    "gather": "x dim index",
    "index_select": "x dim index",
    "pow": "x exponent",
    "add": "x y alpha",
    "sub": "x y alpha",
    "rsub": "x y alpha",
    "div": "x y rounding_mode",
    "square": "x",
    "t": "x",
    "expand_as": "x other",
    "view_as": "x other",
    "reshape_as": "x other",
    "type_as": "x other",
    "lerp": "x y weight",
    "addcmul": "x one two value",
    "addcdiv": "x one two value",
    "glu": "x dim",
    "mse_loss": "x y size_average reduce reduction",
    "linear": "x weight bias",
    "matmul": "x y",
    "bmm": "x y",
    "mm": "x y",
    "unfold": "x dim size step kernel_size stride padding dilation",
    "movedim": "x source destination",
    "outer": "x y",
    "max_pool2d": "x kernel stride padding dilation ceil_mode return_indices",
    "avg_pool2d": "x kernel stride padding ceil_mode count_include_pad divisor_override",
    "adaptive_avg_pool2d": "x size",
    "adaptive_avg_pool1d": "x size",
    "conv1d": "x weight bias stride padding dilation groups",
    "conv2d": "x weight bias stride padding dilation groups",
    "conv3d": "x weight bias stride padding dilation groups",
    "conv_transpose1d": "x weight bias stride padding more groups dilation",
}
"""The parameters of operations, in order, by the names that the functions of this package have for them. The arguments
of an operation that is missing here are passed on as they are given."""

_ORDERED_OTHERWISE: Mapping[str, str] = {
    ".where": "x condition y",
    "torch.embedding": "weight index padding_idx scale_grad_by_freq sparse",
    "torch.batch_norm": "x weight bias mean var training momentum eps _cudnn",
    "torch.group_norm": "x groups weight bias eps _cudnn",
    "torch.layer_norm": "x shape weight bias eps _cudnn",
    "torch.nn.functional.unfold": "x kernel_size dilation padding stride",
    "torch.nn.functional.softmax": "x dim _stacklevel dtype",
    "torch.nn.functional.log_softmax": "x dim _stacklevel dtype",
}
"""Functions whose parameters are in another order than others of that label; methods have a dot before their names.
What begins with an underscore changes nothing."""

_RENAMED: Mapping[str, str] = {
    "input": "x", "normalized_shape": "shape", "running_mean": "mean", "running_var": "var", "num_groups": "groups",
    "start_dim": "start", "end_dim": "end", "dim0": "one", "dim1": "other", "negative_slope": "slope", "other": "y",
    "min_val": "low", "max_val": "high", "ord": "p", "axis": "dim", "split_size_or_sections": "size",
    "split_size": "size", "kernel_size": "kernel", "output_size": "size", "self": "x", "target": "y",
    "keepdims": "keepdim",
}  # fmt: skip
"""Names that PyTorch has for parameters, with those in the signatures."""

_WITHOUT_EFFECT = PLACEMENT | {"out", "non_blocking", "copy"}
"""Arguments that change no element, unless they are tensors."""


def known_name(name: str, names: Sequence[str]) -> str:
    """What a signature with these names calls a parameter of PyTorch's."""
    return name if name in names else _RENAMED.get(name, name)


_ONE_AXIS = {"sum", "mean", "any", "all", "amax", "amin"}


def bound_arguments(
    label: str, args: Sequence[Argument], kwargs: Mapping[str, Argument], node: Node
) -> dict[str, Argument]:
    """The arguments of an operation by the names in its signature. Raises Unsupported if one has no place there."""
    target = f".{node.target}" if node.kind is NodeKind.METHOD else node.target
    names = _ORDERED_OTHERWISE.get(target, SIGNATURES[label]).split()
    one_by_one = len(args) > 2 and all(isinstance(each, int) and not isinstance(each, bool) for each in args[1:])
    if label in _ONE_AXIS and one_by_one:
        raise Unsupported(f"{label} with axes one by one")
    if len(args) > len(names):
        raise Unsupported(f"{label} with {len(args)} arguments")
    found = dict(zip(names, args))
    for name, value in kwargs.items():
        known = known_name(name, names)
        if known in names:
            found[known] = value
        elif name not in _WITHOUT_EFFECT or isinstance(value, Value):
            raise Unsupported(f"{label} with {name}")
    if target == "torch.linalg.norm" and found.get("p") is not None and not isinstance(found.get("dim"), int):
        raise Unsupported("a norm of matrices")
    if target.endswith("cumsum_"):
        raise Unsupported("a cumulative sum in place")
    return {name: value for name, value in found.items() if not name.startswith("_")}
