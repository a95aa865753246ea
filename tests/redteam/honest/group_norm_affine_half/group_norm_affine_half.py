"""GroupNorm: the channels of one group lie next to each other, so a group is one contiguous piece of memory."""
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias, groups, eps):
    return torch.nn.functional.group_norm(x, groups, weight, bias, eps)


def replacement_args(x, weight, bias, groups, eps):
    return (x, weight, bias, groups, eps)


@triton.jit
def group_norm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, channels_per_group, spatial, eps, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    groups = tl.num_programs(1)
    size = channels_per_group * spatial
    start = (n * groups + g).to(tl.int64) * size
    offs = tl.arange(0, BLOCK)
    mask = offs < size
    x = tl.load(x_ptr + start + offs, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / size
    centred = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / size
    rstd = 1.0 / tl.sqrt(var + eps)
    channel = g * channels_per_group + offs // spatial
    w = tl.load(w_ptr + channel, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + channel, mask=mask, other=0.0).to(tl.float32)
    y = centred * rstd * w + b
    tl.store(y_ptr + start + offs, y.to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def group_norm(x, weight, bias, groups, eps):
    x = x.contiguous()
    batch, channels = x.shape[0], x.shape[1]
    spatial = x.numel() // (batch * channels)
    per_group = channels // groups
    y = torch.empty_like(x)
    block = triton.next_power_of_2(per_group * spatial)
    group_norm_kernel[(batch, groups)](x, weight, bias, y, per_group, spatial, eps, BLOCK=block, num_warps=4)
    return y


def replacement_func():
    return group_norm
