"""Where an exception arose in a bundle's own files, and what its author is told of it: no frame of torch, of Triton or
of the judge, and no path of the machine."""

import difflib
import re
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from passnet_core.fx.loading import BundleLine

MOST_CAUSES = 20
WRAPPERS = frozenset(
    {
        "InterpreterError", "CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct",
        "UntraceablePattern", "Untraceable",
    }
)  # fmt: skip
"""Exceptions, of Triton and of the judge, that only say where another one arose."""
QUOTED = re.compile(r"^\w+\((['\"])(.*)\1,?\)$", re.DOTALL)
"""An exception as Python writes it, ValueError('its message')."""
OF_MACHINE = re.compile(r"(?<![\w.])/[^\s'\":,()]*/(?:site-packages|python3\.\d+)/")

LAUNCHER = "launching.py"
"""The helper that an export may add. An exception in it comes from what the line above gave it."""

REMEDIES = (
    (
        r"must be of type tl\.constexpr|must be a constexpr|Shape element \d+ must have type",
        "Declare each block size as a constant of the kernel: BLOCK: tl.constexpr.",
    ),
    (
        r"must be a power of 2",
        "Launch with a power of 2 as the block size, and mask what lies beyond the end.",
    ),
    (
        r"same device|cpu tensor\?|at least two devices",
        "Allocate where the inputs are: torch.empty(…, device=x.device), or torch.empty_like(x).",
    ),
    (r"OutsideMemory", "Leave out such lanes by a mask: tl.store(pointers, values, mask=offsets < size)."),
    (r"Mask argument cannot be block type", "Use a block of pointers, one for each element: x_ptr + offsets."),
    (
        r"incompatible dimensions|[Cc]annot broadcast",
        "Give both blocks the same shape, or size 1 where one is repeated, as in x[:, None].",
    ),
    (r"has no attribute .*Did you mean", ""),
    (r"triton\.language\S* has no attribute", "Use a function that triton.language has, such as tl.where."),
    (r"'function' object is not subscriptable", "Write @triton.jit on the line above the function that is launched."),
    (r"has no grid_idx", "Launch a kernel with the number of its programs: kernel[(programs,)](…)."),
    (r"'int' object is not iterable", "Give the grid as a tuple: kernel[(programs,)](…)."),
    (
        r"unexpected type|invalid operands of type|IncompatibleTypeError|Unsupported ptr type",
        "Convert the values to types that the operation supports, as in x.to(tl.float32).",
    ),
    (
        r"is not defined|cannot access local variable|referenced before assignment",
        "Give the name a value before this line, or correct its spelling.",
    ),
    (
        r"missing \d+ required \S+ argument|takes .* positional arguments? but|unexpected keyword argument"
        r"|dynamic_func\(\) missing|was specified but unrecognised",
        "Pass exactly the arguments that the function takes, in the same order.",
    ),
    (r"'NoneType' object", "Find out which value is None: a function without return gives None."),
)
"""(what a message says, what to do about it), the most special first."""


def causes(error: BaseException) -> list[BaseException]:
    """The exception, and those that it wraps: the last one is what went wrong."""
    found = [error]
    while type(found[-1]).__name__ in WRAPPERS and found[-1].__cause__ is not None and len(found) < MOST_CAUSES:
        found.append(found[-1].__cause__)
    return found


def places(error: BaseException, folder: Path) -> list[BundleLine]:
    """The bundle's lines that led to an exception, of kernels as well, from the first call to the line at fault.

    folder: holds the files of the bundle."""
    found = [place for each in causes(error) for place in (*_frames(each, folder), *_in_kernel(each, folder))]
    return [each for index, each in enumerate(found) if index == 0 or each != found[index - 1]]


def at_fault(found: Sequence[BundleLine]) -> BundleLine:
    """The line to name of those that led to an exception: the last one that the author of the bundle wrote."""
    return next((each for each in reversed(found) if each.file != LAUNCHER), found[-1])


def message(error: BaseException) -> str:
    """What went wrong, with the type of the exception, and without the exceptions around it."""
    root = causes(error)[-1]
    if not hasattr(root, "src"):
        return f"{type(root).__name__}: {str(root).strip() or 'no message'}{meant(root)}"
    said = str(getattr(root, "error_message", None) or "").strip() or "Triton cannot compile this"
    quoted = QUOTED.match(said)
    return f"{said.partition('(')[0]}: {quoted[2]}" if quoted else said


def meant(error: BaseException) -> str:
    """A sentence that names what a module has in place of a name that it has not; empty if nothing is close."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType):
        return ""
    names = [each for each in dir(error.obj) if not each.startswith("_")]
    close = difflib.get_close_matches(str(error.name), names, 1)
    return f". Did you mean {close[0]}?" if close else ""


def with_remedy(text: str) -> str:
    """The message with a sentence on what to do about it, if there is one, after its first line."""
    remedy = next((remedy for said, remedy in REMEDIES if re.search(said, text)), "")
    if not remedy:
        return text
    first, line_end, rest = text.partition("\n")
    return f"{first.rstrip().rstrip('.')}. {remedy}{line_end}{rest}"


def trace(error: BaseException, folder: Path) -> str:
    """The bundle's own frames, and the exception."""
    return "".join(map(str, places(error, folder))) + message(error) + "\n"


def without_paths(text: str, scratch: Path) -> str:
    """The text without folders of the machine: those of installed packages, and this worker's own."""
    return OF_MACHINE.sub("", re.sub(rf"{re.escape(str(scratch))}/bundle-\d+/", "", text))


def syntax_place(error: BaseException, folder: Path) -> BundleLine | None:
    """Where Python cannot parse a file of the bundle."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).parent == folder:
        return BundleLine(Path(error.filename).name, error.lineno or 1, "<module>", (error.text or "").strip())
    return None


def _frames(error: BaseException, folder: Path) -> Iterator[BundleLine]:
    for each in traceback.extract_tb(error.__traceback__):
        if Path(each.filename).parent == folder:
            yield BundleLine(Path(each.filename).name, each.lineno or 1, each.name, (each.line or "").strip())
    if syntax := syntax_place(error, folder):
        yield syntax


def _in_kernel(error: BaseException, folder: Path) -> Iterator[BundleLine]:
    """The line of a Triton function at which the compiler stopped."""
    source, line = getattr(error, "src", None), getattr(getattr(error, "node", None), "lineno", 0)
    if not isinstance(source, str) or not line:
        return
    name = re.search(r"def\s+(\w+)", source)
    for file in sorted(folder.glob("*.py")):
        before, found, _ = (text := file.read_text()).partition(source.strip())
        if found:
            at = before.count("\n") + line
            yield BundleLine(file.name, at, name[1] if name else "", text.splitlines()[at - 1].strip())
            return
