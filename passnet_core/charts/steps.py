"""What one step of a program accesses, in words and as a table."""

from typing import Any

from passnet_core.charts.places import index_of
from passnet_core.records import AccessKind, MemoryAccess, PassTrace, TracedLaunch, TracedProgram, TracedTensor

MOST_VALUES = 64
"""The lanes in a table of values."""

DONE = {AccessKind.LOAD: "loaded", AccessKind.STORE: "stored", AccessKind.ATOMIC: "changed atomically"}
DOES = {AccessKind.LOAD: "loads", AccessKind.STORE: "stores", AccessKind.ATOMIC: "atomically changes"}


def words(launch: TracedLaunch, program: TracedProgram, step: int) -> str:
    """Say what a step of a program accesses. step: from 0."""
    access = program.accesses[step]
    known, masked, outside = len(access.masked), sum(access.masked), access.touched.count(-1)
    said = f"Program {place(launch, program)}, step {step + 1} of {len(program.accesses)}:"
    said += (
        f" line {access.line} of {access.file} {DOES[access.kind]} {_elements(access, launch.tensor(access.tensor))}"
    )
    said += f"; the mask leaves out {'all' if masked == known else f'{masked:,} of' if masked else 'none of'} "
    said += _count(known, "lane")
    if outside:
        said += f"; {_count(outside, 'lane')} {'addresses' if outside == 1 else 'address'} memory outside of it"
    said += "."
    if access.lanes > known:
        said += f" The block has {access.lanes:,} lanes, of which the first {known:,} are known."
    return said


def _elements(access: MemoryAccess, tensor: TracedTensor | None) -> str:
    """The elements that an access touches, by the first and the last one."""
    used = [each for each in access.touched if each >= 0]
    if tensor is None or not used:
        return f"nothing of {named(tensor)}" if tensor else "nothing of any tensor"
    different = len(set(used))
    first, last = index_of(min(used), tensor.shape), index_of(max(used), tensor.shape)
    found = f"{_count(different, 'element')} of {named(tensor)}, {first}"
    found += f" to {last}" if first != last else ""
    return found + (", some of them in several lanes" if different < len(used) else "")


def place(launch: TracedLaunch, program: TracedProgram) -> str:
    """A program's place in the grid: "3", or "(3, 0)" if the grid has several axes."""
    axes = max((axis for axis, size in enumerate(launch.grid) if size > 1), default=0) + 1
    ids = ", ".join(map(str, program.ids[:axes]))
    return ids if axes == 1 else f"({ids})"


def named(tensor: TracedTensor) -> str:
    """A tensor by the kernel's parameter, and the subgraph's input that it is, if it is one: "x_ptr (in_0)"."""
    return f"{tensor.name} ({tensor.source})" if tensor.source else tensor.name


def value_rows(access: MemoryAccess, tensor: TracedTensor | None) -> list[dict[str, Any]]:
    """The first lanes of an access as rows of a table."""
    return [
        {
            "lane": lane,
            "element": str(index_of(element, tensor.shape)) if tensor and element >= 0 else "none",
            "value": value,
            "masked": masked,
        }
        for lane, (element, masked, value) in enumerate(
            zip(access.elements[:MOST_VALUES], access.masked, access.values)
        )
    ]


def described(tensor: TracedTensor) -> str:
    """A tensor's form, and the input of the subgraph that it is: "1×77×2048 bfloat16, in_0"."""
    sizes = "×".join(map(str, tensor.shape)) or "scalar"
    return f"{sizes} {tensor.dtype}" + (f", {tensor.source}" if tensor.source else "")


def remarks(trace: PassTrace, launch: TracedLaunch, program: TracedProgram) -> list[str]:
    """What a reader should know besides: the launch's numbers, what is left out, and who says all this."""
    said = []
    if launch.constants:
        said.append(f"Launched with {', '.join(f'{name}={value}' for name, value in launch.constants)}.")
    accessed = {each.tensor for each in program.accesses}
    if other := [each.name for each in launch.tensors if each.name not in accessed]:
        said.append(f"Not accessed by this program: {', '.join(other)}.")
    if len(launch.programs) < launch.size:
        said.append(f"{len(launch.programs)} of {launch.size:,} programs are recorded, the last one among them.")
    if launch.ran < launch.size:
        said.append(f"Only {launch.ran:,} ran: what the others would store is zero here, and so may be later values.")
    if program.left_out:
        said.append(f"Not shown: {_count(program.left_out, 'further access', 'further accesses')} of this program.")
    if trace.left_out:
        said.append(f"Not shown: {_count(trace.left_out, 'further launch', 'further launches')}.")
    said.append(
        "Recorded in Triton's interpreter on a CPU, on inputs as recorded with the subgraph. Reported by the process"
        " that has loaded the passes; the judge does not check it."
    )
    return said


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
