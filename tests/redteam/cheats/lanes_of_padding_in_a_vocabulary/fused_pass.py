import torch
import triton
import triton.language as tl


def pattern(logits):
    return torch.nn.functional.softmax(logits, dim=-1)


def replacement_args(logits):
    return (logits,)


@triton.jit
def softmax_kernel(logits_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    logits = tl.load(logits_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    powers = tl.exp(logits - tl.max(logits, 0))
    share = powers / tl.sum(powers, 0)
    tl.store(out_ptr + row * columns + at, share.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def softmax(logits):
    logits = logits.contiguous()
    out = torch.empty_like(logits)
    columns = logits.shape[-1]
    softmax_kernel[(logits.numel() // columns,)](
        logits, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=16
    )
    return out


def replacement_func():
    return softmax
