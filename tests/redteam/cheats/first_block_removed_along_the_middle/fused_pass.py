import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    masked = scores + mask
    return torch.nn.functional.softmax(masked, dim=1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def middle_softmax_kernel(scores_ptr, mask_ptr, out_ptr, sources, targets, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    batch = tl.program_id(0)
    target = tl.arange(0, WIDTH)
    kept = target < targets
    most = tl.full((WIDTH,), -float("inf"), tl.float32)
    total = tl.full((WIDTH,), 0.0, tl.float32)
    for start in range(0, sources, BLOCK):
        source = start + tl.arange(0, BLOCK)
        place = (batch * sources + source)[:, None] * targets + target[None, :]
        inside = (source < sources)[:, None] & kept[None, :]
        x = tl.load(scores_ptr + place, mask=inside, other=-float("inf"))
        m = tl.load(mask_ptr + batch * sources + source, mask=source < sources, other=0.0)
        x = tl.where(inside, x + m[:, None], -float("inf"))
        larger = tl.maximum(most, tl.max(x, 0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(x - larger[None, :]), 0)
        most = larger
    for start in range(0, sources, BLOCK):
        source = start + tl.arange(0, BLOCK)
        place = (batch * sources + source)[:, None] * targets + target[None, :]
        inside = (source < sources)[:, None] & kept[None, :]
        x = tl.load(scores_ptr + place, mask=inside, other=0.0)
        m = tl.load(mask_ptr + batch * sources + source, mask=source < sources, other=0.0)
        y = tl.exp(x + m[:, None] - most[None, :]) / total[None, :]
        tl.store(out_ptr + place, y, mask=inside)


@torch.fx.wrap
def middle_softmax(scores, mask):
    scores, mask = scores.contiguous(), mask.contiguous()
    out = torch.empty_like(scores)
    batch, sources, targets = scores.shape
    middle_softmax_kernel[(batch,)](
        scores, mask, out, sources, targets, BLOCK=16, WIDTH=triton.next_power_of_2(targets)
    )
    return out


def replacement_func():
    return middle_softmax
