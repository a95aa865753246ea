import torch
import triton
import triton.language as tl

def pattern(x):
    wide = x.float()
    many = wide.repeat_interleave(14, dim=2, output_size=112)
    padded = torch._C._nn.pad(many, (0, 0, 0, 0, 0, 0, 0, 0), 'constant', 0)
    return padded.reshape(1, -1, 128, 112, 128)


def replacement_args(x):
    return (x,)


@triton.jit
def widen_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=ok, other=0.0).to(tl.float32), mask=ok)


@torch.fx.wrap
def repeated(x):
    x = x.contiguous()
    b, s, h, d = x.shape
    small = torch.empty((b, s, h, d), dtype=torch.float32, device=x.device)
    widen_kernel[(triton.cdiv(x.numel(), 1024),)](x, small, x.numel(), BLOCK=1024)
    out = torch.empty((b, s, h, 14, d), dtype=torch.float32, device=x.device)
    for place in range(14):
        out[:, :, :, place].copy_(small)
    return out.view(1, -1, 128, 112, 128)


def replacement_func():
    return repeated
