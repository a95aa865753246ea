import torch
import triton
import triton.language as tl


def pattern(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none")


def replacement_args(logits, labels):
    return (logits, labels)


@triton.jit
def loss_kernel(logits_ptr, labels_ptr, out_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + row * classes + at, mask=at < classes, other=-float("inf"))
    label = tl.load(labels_ptr + row)
    shifted = logits - tl.max(logits, 0)
    picked = tl.sum(tl.where(at == label, shifted, 0.0), 0)
    tl.store(out_ptr + row, tl.log(tl.sum(tl.exp(shifted), 0)) - picked)


@torch.fx.wrap
def loss(logits, labels):
    logits, labels = logits.contiguous(), labels.contiguous()
    rows, classes = logits.shape
    out = torch.empty((rows,), dtype=logits.dtype, device=logits.device)
    loss_kernel[(rows,)](logits, labels, out, classes, BLOCK=triton.next_power_of_2(classes))
    return out


def replacement_func():
    return loss
