"""Row softmax after the "Fused Softmax" tutorial: a persistent kernel that walks over rows."""

import torch
import triton
import triton.language as tl


def pattern(x):
    y = torch.nn.functional.softmax(x, dim=-1, dtype=torch.float32)
    y = y.to(torch.float16)
    return torch.nn.functional.dropout(y, p=0.0, training=False)


def replacement_args(x):
    return (x,)


@triton.jit
def softmax_kernel(
    output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols,
    BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr,
):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        col_offsets = tl.arange(0, BLOCK_SIZE)
        input_ptrs = row_start_ptr + col_offsets
        mask = col_offsets < n_cols
        row = tl.load(input_ptrs, mask=mask, other=-float("inf")).to(tl.float32)
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        softmax_output = numerator / denominator
        output_row_start_ptr = output_ptr + row_idx * output_row_stride
        output_ptrs = output_row_start_ptr + col_offsets
        tl.store(output_ptrs, softmax_output.to(output_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def softmax(x):
    x2 = x.contiguous().view(-1, x.shape[-1])
    n_rows, n_cols = x2.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    device = triton.runtime.driver.active.get_current_device()
    properties = triton.runtime.driver.active.utils.get_device_properties(device)
    NUM_SM = properties["multiprocessor_count"]
    y = torch.empty_like(x2)
    num_programs = min(NUM_SM * 8, n_rows)
    softmax_kernel[(num_programs, 1, 1)](
        y, x2, x2.stride(0), y.stride(0), n_rows, n_cols, BLOCK_SIZE=BLOCK_SIZE, num_stages=2, num_warps=4
    )
    return y.view(x.shape)


def replacement_func():
    return softmax
