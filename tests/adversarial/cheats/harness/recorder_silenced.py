# Tries: an exception's frames lead to the judge's recorder, which from then on notes kernels only, and no steps while
#   the library computes; then a kernel is launched on the first row.
# Family: harness
# Needs: cpu
# Verdict: library | cheat | crashed | rejected by a rule
# Subgraph: add-relu-alone

import os

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def row_kernel(a_ptr, b_ptr, out_ptr, columns, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    inside = column < columns
    s = tl.load(a_ptr + column, mask=inside, other=0.0) + tl.load(b_ptr + column, mask=inside, other=0.0)
    tl.store(out_ptr + column, tl.where(s < 0, 0.0, s), mask=inside)


def frames():
    try:
        raise IndexError
    except IndexError as error:
        frame = getattr(getattr(error, "__trace" + "back__"), "tb_" + "frame")
    while frame is not None:
        yield getattr(frame, "f_" + "locals")
        frame = getattr(frame, "f_" + "back")


def recorders():
    for names in frames():
        for value in list(names.values()):
            if hasattr(value, "steps") and hasattr(value, "note"):
                yield value


def table_of(module):
    match module:
        case object(sys=object(modules=table)):
            return table


def functions_of(library):
    match library:
        case object(add=add, relu=relu):
            return add, relu


ADD, RELU = functions_of(table_of(os)["torch"])


def kernels_only(note):
    def noted(kind, *more, **named):
        if kind == "kernel":
            note(kind, *more, **named)

    return noted


@torch.fx.wrap
def add_relu(a, b):
    silenced = {id(each): each for each in recorders()}.values()
    steps = [each.steps for each in silenced]
    for each in silenced:
        each.note, each.steps = kernels_only(each.note), None
    out = RELU(ADD(a, b))
    for each, kept in zip(silenced, steps):
        each.steps = kept
    columns = a.shape[-1]
    row_kernel[(1,)](a, b, out, columns, SIZE=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return add_relu
