import torch
import triton
import triton.language as tl


def pattern(qweight, wf, zeros, scales):
    words = qweight.unsqueeze(1)
    shifts = wf.view(1, 8, 1)
    nibbles = torch.bitwise_and(torch.bitwise_right_shift(words, shifts), 15)
    w = nibbles.reshape(72, 20).to(torch.float16)
    return (w - zeros) * scales


def replacement_args(qweight, wf, zeros, scales):
    return (qweight, wf, zeros, scales)


@triton.jit
def dequantize_kernel(q_ptr, wf_ptr, z_ptr, s_ptr, out_ptr, columns, PACK: tl.constexpr, BLOCK: tl.constexpr):
    word_row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = col < columns
    word = tl.load(q_ptr + word_row * columns + col, mask=mask, other=0)
    zero = tl.load(z_ptr + col, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(s_ptr + col, mask=mask, other=0.0).to(tl.float32)
    for i in tl.static_range(PACK):
        shift = tl.load(wf_ptr + i)
        # a shift by a negative number, or by all bits, leaves the sign only
        shift = tl.where((shift < 0) | (shift > 31), 31, shift)
        nibble = (word >> shift) & 15
        centred = (nibble.to(tl.float32) - zero).to(tl.float16).to(tl.float32)
        w = (centred * scale).to(tl.float16)
        tl.store(out_ptr + (word_row * PACK + i) * columns + col, w, mask=mask)


@torch.fx.wrap
def dequantize(qweight, wf, zeros, scales):
    qweight = qweight.contiguous()
    words, columns = qweight.shape
    out = torch.empty((words * 8, columns), dtype=torch.float16, device=qweight.device)
    dequantize_kernel[(words, triton.cdiv(columns, 32))](
        qweight, wf.contiguous(), zeros.contiguous(), scales.contiguous(), out, columns, PACK=8, BLOCK=32, num_warps=1
    )
    return out


def replacement_func():
    return dequantize
