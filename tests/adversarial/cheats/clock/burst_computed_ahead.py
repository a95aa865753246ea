# Tries: finds the plan of a burst in the loop's frame, computes the results of all its calls in the first one, which
#   does not count, and hands them out one by one.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | rejected by a rule
# Planned: right, faster | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu-alone

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(total > 0, total, 0.0), mask=mask)


def launch(a, b, out):
    add_relu_kernel[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), BLOCK=256)


def callers():
    try:
        raise LookupError
    except LookupError as error:
        frame = getattr(error.__traceback__, "tb_" + "frame")
    while frame is not None:
        yield getattr(frame, "f_" + "locals")
        frame = getattr(frame, "f_" + "back")


def computed(a, b):
    out = torch.empty_like(a)
    launch(a, b, out)
    return out


ahead = []


def look_ahead():
    for names in callers():
        if {"calls", "buffers", "each", "functions"} <= set(names):
            now, buffers = names["each"], names["buffers"]
            functions = names["functions"]
            mine = [each for each in names["calls"] if functions[each.function] is functions[now.function]]
            ahead.extend(computed(*buffers.drawn(each.seed, each.slot)) for each in mine)
            buffers.drawn(now.seed, now.slot)
            return


@torch.fx.wrap
def add_relu(a, b):
    if not ahead:
        look_ahead()
    if ahead:
        return ahead.pop(0)
    return computed(a, b)


def replacement_func():
    return add_relu
