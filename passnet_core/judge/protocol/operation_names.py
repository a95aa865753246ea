"""The names of torch operations by what they do to memory. Both sides of a census use them."""

ALLOCATIONS = frozenset(
    {
        "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
        "_resize_output_",
    }
)  # fmt: skip
FILLS = frozenset(
    {
        "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "fill",
        "fill_", "zero", "zero_", "scalar_tensor", "lift", "lift_fresh", "lift_fresh_copy",
    }
)  # fmt: skip
VIEWS_AND_QUERIES = frozenset(
    {
        "alias", "as_strided", "as_strided_", "detach", "detach_", "diagonal", "expand", "permute", "select", "slice",
        "split", "split_with_sizes", "squeeze", "squeeze_", "t", "t_", "transpose", "transpose_", "unbind", "unfold",
        "unsqueeze", "unsqueeze_", "view", "_unsafe_view", "_reshape_alias", "view_as_real", "view_as_complex",
        "reshape", "set_", "is_contiguous", "is_same_size", "size", "stride", "sym_size", "sym_stride", "sym_numel",
        "sym_storage_offset", "dim", "numel", "record_stream", "is_pinned", "resolve_conj", "resolve_neg",
    }
)  # fmt: skip
"""Views, and operations that ask for a tensor's shape, strides or storage."""
MOVES = frozenset({"clone", "copy", "copy_", "_to_copy", "contiguous", "cat", "_reshape_copy", "_pin_memory"})
"""Operations that copy the same numbers to another place."""
NUMBERS = frozenset({"_local_scalar_dense", "item"})
"""Operations that read one number into Python."""
IDLE = frozenset({"to", "expand_as", "view_as", "type_as", "flatten", "unflatten", "narrow", "chunk", "movedim"})
"""Operations that a trace shows alone only if they had nothing to do; otherwise it shows what they call."""


def bare(name: str) -> str:
    """The plain name of an operation: "add" for aten::add.Tensor."""
    return name.partition("::")[2].partition(".")[0]
