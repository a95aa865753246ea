import torch
import triton
import triton.language as tl


def pattern(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1)


def replacement_args(logits, labels):
    return (logits, labels)


@triton.jit
def smoothed_rows_kernel(x_ptr, label_ptr, loss_ptr, classes, smoothing, IGNORE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < classes
    label = tl.load(label_ptr + row)
    x = tl.load(x_ptr + row * classes + cols, mask=mask, other=float("-inf")).to(tl.float32)
    shifted = x - tl.max(x, axis=0)
    log_p = shifted - tl.log(tl.sum(tl.exp(shifted), axis=0))
    nll = -tl.sum(tl.where(cols == label, log_p, 0.0), axis=0)
    smooth = -tl.sum(tl.where(mask, log_p, 0.0), axis=0) / classes
    loss = (1.0 - smoothing) * nll + smoothing * smooth
    tl.store(loss_ptr + row, tl.where(label == IGNORE, 0.0, loss))


@triton.jit
def mean_of_labelled_kernel(loss_ptr, label_ptr, out_ptr, rows, IGNORE: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, rows, BLOCK):
        at = start + tl.arange(0, BLOCK)
        label = tl.load(label_ptr + at, mask=at < rows, other=IGNORE)
        total += tl.load(loss_ptr + at, mask=at < rows, other=0.0)
        count += (label != IGNORE).to(tl.int32)
    tl.store(out_ptr, tl.sum(total, axis=0) / tl.sum(count, axis=0).to(tl.float32))


@torch.fx.wrap
def smoothed_cross_entropy(logits, labels):
    logits = logits.contiguous()
    labels = labels.contiguous()
    rows, classes = logits.shape
    losses = torch.empty((rows,), dtype=torch.float32, device=logits.device)
    out = torch.empty((), dtype=logits.dtype, device=logits.device)
    block = triton.next_power_of_2(classes)
    smoothed_rows_kernel[(rows,)](logits, labels, losses, classes, 0.1, IGNORE=-100, BLOCK=block)
    mean_of_labelled_kernel[(1,)](losses, labels, out, rows, IGNORE=-100, BLOCK=16, num_warps=1)
    return out


def replacement_func():
    return smoothed_cross_entropy
