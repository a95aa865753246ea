import torch
import triton
import triton.language as tl


def pattern(prediction, target):
    return torch.abs(prediction - target).amax(-1)


def replacement_args(prediction, target):
    return (prediction, target)


@triton.jit
def distance_kernel(prediction_ptr, target_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    prediction = tl.load(prediction_ptr + row * columns + at, mask=inside, other=0.0)
    target = tl.load(target_ptr + row * columns + at, mask=inside, other=0.0)
    tl.store(out_ptr + row, tl.max(tl.abs(prediction - target), 0))


@torch.fx.wrap
def distances(prediction, target):
    rows, columns = prediction.shape
    out = torch.empty((rows,), dtype=prediction.dtype, device=prediction.device)
    distance_kernel[(rows,)](
        prediction, target, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=6
    )
    return out


def replacement_func():
    return distances
