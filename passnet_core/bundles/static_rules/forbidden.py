"""What the strict profile's static rules know by name: modules, functions, methods and attributes. Data only."""

import sys

THIRD_PARTY = frozenset({"torch", "triton", "numpy", "typing_extensions"})
"""What a bundle may import besides Python's own modules and its own files."""

MODULES = {
    "no pass needs native code": (
        "ctypes", "_ctypes", "cffi", "mmap", "torch.utils.cpp_extension", "torch.utils.dlpack", "torch._C",
        "torch.library", "numpy.ctypeslib", "numpy.f2py",
    ),
    "a pass starts no processes and no threads": (
        "subprocess", "_posixsubprocess", "multiprocessing", "_multiprocessing", "threading", "_thread", "concurrent",
        "asyncio", "sched", "signal", "_signal", "pty", "atexit",
    ),
    "a pass talks to nobody": (
        "socket", "_socket", "socketserver", "ssl", "select", "selectors", "http", "urllib", "ftplib", "smtplib",
        "poplib", "imaplib", "xmlrpc", "fcntl", "resource",
    ),
    "a pass does not look into the interpreter": (
        "gc", "builtins", "imp", "pkgutil", "runpy", "zipimport", "code", "codeop", "bdb", "pdb", "trace",
        "tracemalloc", "faulthandler", "unittest", "importlib.abc", "importlib.machinery", "importlib.util",
        "importlib._bootstrap", "torch._dynamo", "torch.utils._python_dispatch", "torch.overrides",
    ),
    "code and data of a pass stand in its files": ("pickle", "_pickle", "marshal", "shelve"),
}  # fmt: skip
"""Reasons, each with the modules that may not be imported for it."""

PATHS = {
    "no pass looks into other functions' frames": (
        "inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getouterframes", "inspect.getinnerframes",
        "sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
        "sys.addaudithook", "sys.meta_path", "sys.path_hooks", "sys.call_tracing", "sys.monitoring",
    ),
    "a pass starts and ends no processes": (
        "os.system", "os.popen", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os._exit", "os.abort",
        "os.posix_spawn", "os.posix_spawnp", "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl",
        "os.execle", "os.execlp", "os.execlpe", "os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe", "os.spawnl",
        "os.spawnle", "os.spawnlp", "os.spawnlpe", "os.memfd_create",
    ),
    "functions cannot be read where they are built from pieces": (
        "types.FunctionType", "types.LambdaType", "types.CodeType", "operator.methodcaller", "operator.attrgetter",
        "_operator.methodcaller", "_operator.attrgetter",
    ),
}  # fmt: skip
"""Reasons, each with the names that may not even be mentioned for it."""

CHANGES = frozenset(
    {"os.putenv", "os.unsetenv"}
    | {f"os.environ.{name}" for name in ("update", "setdefault", "pop", "popitem", "clear", "__setitem__")}
)
"""Calls that change the process for everybody in it."""

PRODUCTS = frozenset({"operator.matmul", "operator.imatmul", "_operator.matmul", "_operator.imatmul"})
"""What computes with tensors and never with plain numbers."""

HARMLESS_TORCH = frozenset(
    {f"torch.{name}" for name in (
        "tensor", "empty_strided", "finfo", "iinfo", "is_tensor", "is_floating_point", "is_complex", "promote_types",
        "result_type", "broadcast_shapes", "get_default_dtype", "no_grad", "inference_mode", "compiler.disable",
    )} | {f"torch.cuda.{name}" for name in (
        "Stream", "stream", "current_stream", "default_stream", "Event", "synchronize", "device",
        "device_of", "current_device", "device_count", "is_available", "get_device_properties",
        "get_device_capability", "get_device_name", "is_bf16_supported",
    )}
)  # fmt: skip
"""Computes nothing, so that the strict profile allows it beyond PassNet's allocations."""

METHODS = frozenset(
    {
        "matmul", "__matmul__", "__rmatmul__", "__imatmul__", "mm", "bmm", "mv", "addmm", "addmm_", "baddbmm",
        "baddbmm_", "addbmm", "addbmm_", "addmv", "addmv_", "addr", "addr_", "softmax", "log_softmax", "logsumexp",
        "relu", "relu_", "sigmoid", "sigmoid_", "tanh_", "exp_", "sqrt_", "rsqrt", "rsqrt_", "add_", "sub_", "mul_",
        "div_", "clamp_", "clamp_min", "clamp_max", "addcmul", "addcmul_", "addcdiv", "addcdiv_", "masked_fill",
        "masked_fill_", "index_select", "index_add", "index_add_", "scatter_add", "scatter_add_", "scatter_reduce",
        "scatter_reduce_", "lerp", "lerp_", "apply_", "map_", "map2_", "__add__", "__radd__", "__iadd__", "__sub__",
        "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__", "__truediv__", "__rtruediv__", "__itruediv__",
        "__pow__", "__rpow__", "__neg__",
    }
)  # fmt: skip
"""Methods that only tensors have, and that compute. Those with common names are left to the census."""

INTERNALS = frozenset(
    {
        "__globals__", "__builtins__", "__code__", "__closure__", "__subclasses__", "__base__", "__bases__", "__mro__",
        "__dict__", "__getattribute__", "__loader__", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame",
        "gi_frame", "cr_frame", "ag_frame", "cell_contents",
    }
)  # fmt: skip
"""Attributes through which everything can be reached."""

LOOKUPS = frozenset({"getattr", "setattr", "delattr", "vars"})
"""Built-in functions that must be called where they stand."""

LOADERS = frozenset({"load_binary", "load_library", "LoadLibrary", "dlopen", "cdll", "from_buffer_copy"})
"""Attributes that take machine code as data."""

LONGEST_BYTES = 512
LONGEST_WORD = 2_000
"""Literals longer than these, without a blank, are not meant for reading."""

HIDEOUTS = ("torch", "sys", "os", "builtins", "ctypes", "operator", "subprocess")
"""Modules that others have imported: triton.….torch is torch."""


def stranger(module: str) -> bool:
    """Whether the top-level module is neither Python's own nor one of the few that a bundle may import."""
    return module not in THIRD_PARTY and module not in sys.stdlib_module_names


def reason_against(path: str, table: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """(the name in the table that covers the dotted path, why it may not be used), or None."""
    for reason, names in table.items():
        for name in names:
            if path == name or path.startswith(f"{name}."):
                return name, reason
    return None
