import torch
import triton
import triton.language as tl


def pattern(x):
    state = x[:, 0]
    state = state * 0.9 + x[:, 1]
    state = state * 0.9 + x[:, 2]
    state = state * 0.9 + x[:, 3]
    state = state * 0.9 + x[:, 4]
    state = state * 0.9 + x[:, 5]
    state = state * 0.9 + x[:, 6]
    return state * 0.9 + x[:, 7]


def replacement_args(x):
    return (x,)


@triton.jit
def then(decay, state, next_decay, next_state):
    return decay * next_decay, state * next_decay + next_state


@triton.jit
def state_kernel(x_ptr, out_ptr, STEPS: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * STEPS + tl.arange(0, STEPS))
    decay = tl.full((STEPS,), 0.9, tl.float32)
    _, state = tl.reduce((decay, x), 0, then)
    tl.store(out_ptr + row, state)


@torch.fx.wrap
def last_state(x):
    x = x.contiguous()
    rows, steps = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    state_kernel[(rows,)](x, out, STEPS=steps)
    return out


def replacement_func():
    return last_state
