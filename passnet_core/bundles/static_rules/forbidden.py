"""Names that the strict profile's static rules refuse or allow: modules, functions, methods and attributes."""

import sys

from passnet_core.operations.kinds import named

THIRD_PARTY = frozenset({"torch", "triton", "numpy", "typing_extensions"})
"""Packages that a bundle may import besides the standard library and its own files."""

STANDARD = frozenset(
    {
        "__future__", "_operator", "abc", "base64", "bisect", "cmath", "collections", "contextlib", "copy",
        "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "importlib",
        "itertools", "json", "keyword", "logging", "math", "numbers", "operator", "os", "pathlib", "platform",
        "pprint", "queue", "random", "re", "statistics", "string", "struct", "sys", "tempfile", "textwrap",
        "time", "types", "typing", "warnings", "zlib",
    }
)  # fmt: skip
"""The modules of the standard library that a bundle may import, as far as MODULES and PATHS allow. The others look at
the interpreter, or no pass needs them."""

MODULES = {
    "a pass must not use native code": (
        "ctypes", "_ctypes", "cffi", "mmap", "torch.utils.cpp_extension", "torch.utils.dlpack", "torch._C",
        "torch.library", "numpy.ctypeslib", "numpy.f2py",
    ),
    "a pass must not start processes or threads": (
        "subprocess", "_posixsubprocess", "multiprocessing", "_multiprocessing", "threading", "_thread", "concurrent",
        "asyncio", "sched", "signal", "_signal", "pty", "atexit",
    ),
    "a pass must not communicate with other processes or machines": (
        "socket", "_socket", "socketserver", "ssl", "select", "selectors", "http", "urllib", "ftplib", "smtplib",
        "poplib", "imaplib", "xmlrpc", "fcntl", "resource",
    ),
    "a pass must not inspect or change the interpreter": (
        "gc", "builtins", "imp", "pkgutil", "runpy", "zipimport", "code", "codeop", "bdb", "pdb", "trace",
        "tracemalloc", "faulthandler", "unittest", "weakref", "_weakref", "importlib.abc",
        "importlib.machinery", "importlib.util", "importlib._bootstrap", "torch._dynamo",
        "torch.utils._python_dispatch", "torch.overrides",
    ),
    "a pass must contain its code and data as source": ("pickle", "_pickle", "marshal", "shelve"),
}  # fmt: skip
"""Reason -> the modules that may not be imported because of it."""

PATHS = {
    "a pass must not inspect frames or hook into the interpreter": (
        "inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getouterframes", "inspect.getinnerframes",
        "sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
        "sys.addaudithook", "sys.meta_path", "sys.path_hooks", "sys.call_tracing", "sys.monitoring", "sys.getrefcount",
    ),
    "a pass must not start or end processes": (
        "os.system", "os.popen", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os._exit", "os.abort",
        "os.posix_spawn", "os.posix_spawnp", "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl",
        "os.execle", "os.execlp", "os.execlpe", "os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe", "os.spawnl",
        "os.spawnle", "os.spawnlp", "os.spawnlpe", "os.memfd_create",
    ),
    "functions that are built at run time cannot be checked": (
        "types.FunctionType", "types.LambdaType", "types.CodeType", "operator.methodcaller", "operator.attrgetter",
        "_operator.methodcaller", "_operator.attrgetter",
    ),
}  # fmt: skip
"""Reason -> the names that may not be used at all because of it."""

CHANGES = frozenset(
    {"os.putenv", "os.unsetenv"}
    | {f"os.environ.{name}" for name in ("update", "setdefault", "pop", "popitem", "clear", "__setitem__")}
)
"""Calls that change the environment of the whole process."""

PRODUCTS = frozenset({"operator.matmul", "operator.imatmul", "_operator.matmul", "_operator.imatmul"})
"""Functions that compute with tensors and never with plain numbers."""

TORCH_INTERNALS = frozenset({"torch._C._dynamo.guards._empty_strided_cuda", "torch._C._dynamo.guards.TensorGuards"})
"""What TorchInductor's code allocates with, in half the time of torch.empty_strided, and what TorchDynamo compares the
dtypes, devices, shapes and strides of arguments with. They do nothing else."""

HARMLESS_TORCH = frozenset(
    TORCH_INTERNALS | {f"torch.{name}" for name in (
        "tensor", "empty_strided", "finfo", "iinfo", "is_tensor", "is_floating_point", "is_complex", "promote_types",
        "result_type", "broadcast_shapes", "get_default_dtype", "no_grad", "inference_mode", "compiler.disable",
    )} | {f"torch.cuda.{name}" for name in (
        "Stream", "stream", "current_stream", "default_stream", "Event", "synchronize", "device",
        "device_of", "current_device", "device_count", "is_available", "get_device_properties",
        "get_device_capability", "get_device_name", "is_bf16_supported",
    )}
)  # fmt: skip
"""Functions that compute nothing. The strict profile allows them in addition to PassNet's allocations."""

INDUCTOR = "torch._inductor"
HELPERS = f"{INDUCTOR}.runtime.triton_helpers"
"""The module whose functions stand in the kernels that Inductor writes, and that people copy from there."""
HELPER_FUNCTIONS = frozenset(
    {
        "promote_to_tensor", "is_floating", "div_floor_integer", "remainder_integer", "pow_integer", "prod", "minimum",
        "maximum", "min2", "max2", "minimum_with_index", "maximum_with_index", "min_with_index", "max_with_index",
        "exp", "online_softmax_reduce", "online_softmax_combine", "online_softmax_combine_with_sum", "welford_reduce",
        "welford_combine", "welford", "any", "bucketize_binary_search", "frexp", "sort_with_index", "select_one",
        "if_mask", "constexpr_next_power_of_2", "device_assert_then", "fp8e4m3fn_to_float32",
    }
)  # fmt: skip
"""Functions of HELPERS that compute inside a kernel and do nothing else."""
HELPER_MODULES = frozenset({"libdevice", "math"})
"""Modules of Triton that are reached through HELPERS."""

METHODS = named("computing_methods")

INTERNALS = frozenset(
    {
        "__globals__", "__builtins__", "__code__", "__closure__", "__subclasses__", "__base__", "__bases__", "__mro__",
        "__dict__", "__getattribute__", "__loader__", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame",
        "gi_frame", "cr_frame", "ag_frame", "cell_contents", "findCaller", "makeRecord",
    }
)  # fmt: skip
"""Attributes that give access to the interpreter's internals."""

ADDRESSES = frozenset(
    {
        "data_ptr", "const_data_ptr", "mutable_data_ptr", "untyped_storage", "_typed_storage", "_cdata", "_use_count",
        "__array_interface__", "__cuda_array_interface__",
    }
)  # fmt: skip
"""Attributes that tell where a tensor lies, or whether others hold its memory."""
LARGEST_ALIGNMENT = 64
"""What PyTorch aligns all memory to, at least: the rest of an address divided by it tells of a view, and nothing of the
memory."""

CALLERS = frozenset({"stack_info", "stacklevel"})
"""Arguments by which messages name the functions that call a pass."""
NEAREST_CALLER = 2
"""The largest stacklevel that a message may have: the function that calls the one that warns."""

LOOKUPS = frozenset({"getattr", "setattr", "delattr", "vars"})
"""Built-in functions that may be called but not used as values."""

LOADERS = frozenset({"load_binary", "load_library", "LoadLibrary", "dlopen", "cdll", "from_buffer_copy"})
"""Functions and attributes that load machine code."""

LONGEST_BYTES = 512
LONGEST_WORD = 2_000
"""Most bytes of a bytes literal, and most characters without a blank in a string literal: longer ones hide data."""

HIDEOUTS = ("torch", "sys", "os", "builtins", "ctypes", "operator", "subprocess")
"""Modules that can be reached as attributes of other modules: triton.….torch is torch."""


def is_foreign_package(module: str) -> bool:
    """Whether a top-level module is neither in the standard library nor in THIRD_PARTY."""
    return module not in THIRD_PARTY and module not in sys.stdlib_module_names


def reason_against(path: str, table: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Return (the name in the table that covers the dotted path, why it may not be used), or None."""
    for reason, names in table.items():
        for name in names:
            if path == name or path.startswith(f"{name}."):
                return name, reason
    return None


def is_inductor_helper(path: str) -> bool:
    """Whether a dotted path names one of Inductor's functions for kernels, or of Triton's that are reached there."""
    parts = path.removeprefix(f"{HELPERS}.").split(".")
    if not path.startswith(f"{HELPERS}."):
        return False
    if parts[0] in HELPER_MODULES:
        return len(parts) == 1 or (len(parts) == 2 and parts[1] != "core" and not parts[1].startswith("_"))
    return len(parts) == 1 and parts[0] in HELPER_FUNCTIONS


def is_other_inductor(path: str) -> bool:
    """Whether a dotted path leads to anything else of Inductor."""
    return (path == INDUCTOR or path.startswith(f"{INDUCTOR}.")) and not is_inductor_helper(path)
