"""The rules by name, what each of them demands, and what they say of a pass's functions and of torch."""

SYNTAX = "syntax"
FILE_NAME = "file-name"
MISSING_FUNCTION = "missing-function"
SIGNATURE = "signature"
TORCH_CALL = "torch-call"
FORBIDDEN_IMPORT = "forbidden-import"
DYNAMIC_CODE = "dynamic-code"
PATCHING = "patching"
REPLACEMENT_CAP = "replacement-cap"

RULES = {
    SYNTAX: "The file must be valid Python.",
    FILE_NAME: "Files of a bundle have plain, unique names that end in .py.",
    MISSING_FUNCTION: "A pass defines pattern, replacement_args and replacement_func.",
    SIGNATURE: "pattern and replacement_args take the same parameters; replacement_func takes none.",
    TORCH_CALL: "Outside pattern and replacement_args, torch may only allocate and fill tensors.",
    FORBIDDEN_IMPORT: (
        "torch.nn, torch.ops and torch.autograd may not be imported; nor other packages than torch, triton and numpy, "
        "nor modules for native code, processes, threads, the network or the interpreter itself."
    ),
    DYNAMIC_CODE: "No code from strings or data, no torch attribute under a computed name, no interpreter's internals.",
    PATCHING: "A pass changes nothing in modules that are not its own, nor in the environment.",
    REPLACEMENT_CAP: "At most so many distinct replacement functions per bundle as the evaluation allows.",
}

TRACED = ("pattern", "replacement_args")
REQUIRED = (*TRACED, "replacement_func")
ALLOCATIONS = (
    "empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "as_tensor",
)  # fmt: skip
"""All that PassNet lets a replacement call of torch."""
FORBIDDEN_MODULES = ("torch.nn", "torch.ops", "torch.autograd")

REMEDY_TORCH = (
    "Compute it in a Triton kernel. Outside pattern and replacement_args torch may only be asked for "
    f"{', '.join(ALLOCATIONS)}."
)
