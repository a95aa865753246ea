"""The rules: their ids, what each one demands, and the functions of a pass and of torch that they name."""

SYNTAX = "syntax"
FILE_NAME = "file-name"
MISSING_FUNCTION = "missing-function"
SIGNATURE = "signature"
TORCH_CALL = "torch-call"
FORBIDDEN_IMPORT = "forbidden-import"
DYNAMIC_CODE = "dynamic-code"
PATCHING = "patching"
KERNEL_LANGUAGE = "kernel-language"
ADDRESS = "address"
REPLACEMENT_CAP = "replacement-cap"
RETURN = "return"
REPLACEMENT = "replacement"
ARGUMENTS = "arguments"
WRAP = "wrap"
DEVICE = "device"

RULES = {
    SYNTAX: "The file must be valid Python.",
    FILE_NAME: "Files of a bundle have plain, unique names that end in .py.",
    MISSING_FUNCTION: "A pass defines pattern, replacement_args and replacement_func.",
    SIGNATURE: "pattern and replacement_args take the same parameters; replacement_func takes none.",
    TORCH_CALL: "Outside pattern and replacement_args, torch may only allocate and fill tensors.",
    FORBIDDEN_IMPORT: (
        "torch.nn, torch.ops and torch.autograd may not be imported, nor packages other than torch, triton and numpy, "
        "nor modules for native code, processes, threads, the network or the interpreter itself. From the "
        "standard library, a pass may import what computes with plain values, such as functools, math and typing."
    ),
    DYNAMIC_CODE: "No code from strings or data, no torch attribute by a computed name, no interpreter internals.",
    PATCHING: "A pass changes neither modules other than its own nor the environment.",
    KERNEL_LANGUAGE: "A function written in Triton uses Triton's language, and nothing that reveals who runs it.",
    ADDRESS: "A pass asks only how an address is aligned, and not which object in memory a tensor is.",
    REPLACEMENT_CAP: "A bundle has no more distinct replacement functions than the evaluation allows.",
    RETURN: "pattern returns what it computes, replacement_args the arguments of the replacement, and that what takes "
    "the place of the match.",
    REPLACEMENT: "replacement_func returns the replacement by its name, without calling it.",
    ARGUMENTS: "replacement_args returns as many arguments as the replacement takes.",
    WRAP: "The replacement is decorated with @torch.fx.wrap.",
    DEVICE: "A replacement allocates on the device of its inputs.",
}

MISTAKES = frozenset({RETURN, REPLACEMENT, ARGUMENTS})
"""The rules that only say where a pass fails: they are not fatal, and no pass that breaks one is accepted."""

TRACED = ("pattern", "replacement_args")
REQUIRED = (*TRACED, "replacement_func")
ALLOCATIONS = (
    "empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "as_tensor",
)  # fmt: skip
"""The only torch functions that PassNet lets a replacement call."""
FORBIDDEN_MODULES = ("torch.nn", "torch.ops", "torch.autograd")

REMEDY_TORCH = (
    "Compute it in a Triton kernel. Outside pattern and replacement_args, torch may only allocate, with "
    f"{', '.join(ALLOCATIONS)}."
)
