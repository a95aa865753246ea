"""Labels (short names) and families of tensor operations."""

from collections.abc import Iterator

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.spelling import INPLACE

_FAMILIES: dict[str, str] = {
    "pointwise": """
        add sub mul div floordiv mod remainder fmod pow neg pos abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt
        square reciprocal sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc sigmoid logsigmoid relu relu6 gelu
        silu mish elu selu celu leaky_relu prelu rrelu hardtanh hardswish hardsigmoid softplus softsign tanhshrink
        hardshrink softshrink threshold swish clamp clip clamp_min clamp_max minimum maximum fmax fmin where lerp
        addcmul addcdiv floor ceil round trunc frac sign sgn signbit copysign eq ne lt le gt ge and or xor not invert
        bitwise_and bitwise_or bitwise_xor bitwise_not logical_and logical_or logical_xor logical_not lshift rshift
        isnan isinf isfinite isclose nan_to_num to type type_as float half bfloat16 double int long short bool
        masked_fill dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout glu heaviside rsub ldexp
        digamma lgamma i0 sinc polar complex real imag angle conj xlogy
    """,
    "reduction": """
        sum mean prod amax amin max min std var var_mean std_mean norm vector_norm matrix_norm logsumexp any all argmax
        argmin median mode nansum nanmean count_nonzero cumsum cumprod cummax cummin cumlogsumexp max_pool1d max_pool2d
        max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        adaptive_max_pool1d adaptive_max_pool2d lp_pool2d topk sort argsort kthvalue unique bincount histc trace dist
        cosine_similarity pairwise_distance mse_loss l1_loss cross_entropy nll_loss aminmax
    """,
    "normalisation": """
        layer_norm rms_norm batch_norm group_norm instance_norm local_response_norm normalize native_layer_norm
        native_batch_norm native_group_norm
    """,
    "matmul": "matmul mm bmm addmm addbmm baddbmm linear bilinear einsum dot inner outer mv addmv tensordot ger kron",
    "convolution": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution fold unfold
    """,
    "layout": """
        view view_as reshape transpose permute t T mT H mH contiguous expand expand_as squeeze unsqueeze flatten
        unflatten movedim moveaxis swapaxes swapdims cat concat concatenate stack hstack vstack dstack chunk split
        tensor_split unbind repeat repeat_interleave tile roll flip rot90 pad pixel_shuffle pixel_unshuffle clone
        detach narrow broadcast_to broadcast_tensors as_strided interpolate upsample channel_shuffle ravel
        split_with_sizes meshgrid block_diag atleast_1d atleast_2d copy alias
    """,
    "indexing": """
        getitem setitem index_select gather scatter scatter_add scatter_reduce index_add index_copy index_fill
        index_put take take_along_dim masked_select masked_scatter nonzero select diagonal diag diag_embed tril triu
        one_hot searchsorted bucketize grid_sample
    """,
    "creation": """
        arange zeros ones full empty zeros_like ones_like full_like empty_like eye linspace logspace tensor as_tensor
        rand randn randint rand_like randn_like randint_like randperm new_zeros new_ones new_full new_empty new_tensor
        scalar_tensor tril_indices triu_indices normal bernoulli multinomial uniform fill fill_diagonal hann_window
        from_numpy zero
    """,
    "softmax": "softmax log_softmax softmin gumbel_softmax",
    "embedding": "embedding embedding_bag",
    "attention": "scaled_dot_product_attention multi_head_attention_forward flex_attention",
}
FAMILIES = (*_FAMILIES, "other")
FAMILY: dict[str, str] = {label: family for family, labels in _FAMILIES.items() for label in labels.split()}

_SHORT = {
    "truediv": "div", "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub", "invert": "not",
    "negative": "neg", "absolute": "abs", "less_equal": "le", "greater_equal": "ge", "less": "lt", "greater": "gt",
    "not_equal": "ne", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctanh": "atanh", "arctan2": "atan2", "fix": "trunc", "expit": "sigmoid", "gammaln": "lgamma",
    "log_sigmoid": "logsigmoid", "_threshold": "threshold",
}  # fmt: skip
_ONE_OF_MANY = frozenset(
    {
        "chunk", "split", "tensor_split", "unbind", "meshgrid", "max", "min", "topk", "sort", "var_mean", "std_mean",
        "broadcast_tensors", "split_with_sizes", "cummax", "cummin", "median", "kthvalue", "aminmax",
        "native_layer_norm", "native_batch_norm", "native_group_norm", "unique", "shape", "size",
    }
)  # fmt: skip
"""Operations with several results. Picking one of them is not an operation worth listing."""
_SILENT = frozenset({"shape", "dtype", "device", "size", "dim", "ndim", "numel", "is_cuda", "_set_grad_enabled",
                     "_enter_autocast", "_exit_autocast", "requires_grad"})  # fmt: skip
"""Operations that do not compute with a tensor's elements."""


def operator_label(node: Node) -> str:
    """Name an operation in one word, "relu", "add" or "view", the same for its in-place form; an input by its name."""
    if node.kind is NodeKind.INPUT:
        return node.name
    match node:
        case Node(target="builtins.getattr", args=(_, str(member))):
            return member
    word = node.target.removeprefix("operator.i") if node.target in INPLACE else node.target.rpartition(".")[2]
    word = (word.strip("_") if word.startswith("__") else word.rstrip("_")) or word
    return _SHORT.get(word, word)


def operator_family(node: Node) -> str:
    """Return the family of an operation, one of FAMILIES: "other" for inputs and for operations that are not listed."""
    return "other" if node.kind is NodeKind.INPUT else FAMILY.get(operator_label(node), "other")


def operator_sequence(graph: Graph) -> tuple[str, ...]:
    """List the labels of a graph's operations, in order, except those that compute nothing, such as a shape."""
    return tuple(_computing_labels(graph))


def _computing_labels(graph: Graph) -> Iterator[str]:
    for node in graph.operations:
        label = operator_label(node)
        if label in _SILENT:
            continue
        match node:
            case Node(target="operator.getitem", args=(Ref(name), int())):
                if operator_label(graph.by_name[name]) in _ONE_OF_MANY:
                    continue
        yield label
