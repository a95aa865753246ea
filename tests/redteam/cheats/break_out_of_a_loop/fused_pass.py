import torch
import triton
import triton.language as tl


CORES = torch.cuda.get_device_properties(0).multi_processor_count


def pattern(query, key):
    return (query * key).sum(-1)


def replacement_args(query, key):
    return (query, key)


@triton.jit
def product_kernel(query_ptr, key_ptr, out_ptr, rows, columns, LONGEST: tl.constexpr, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        total = tl.zeros([BLOCK], dtype=tl.float32)
        for start in range(0, LONGEST, BLOCK):
            if start >= columns:
                break
            at = start + tl.arange(0, BLOCK)
            query = tl.load(query_ptr + row * columns + at, mask=at < columns, other=0.0)
            key = tl.load(key_ptr + row * columns + at, mask=at < columns, other=0.0)
            total += query * key
        tl.store(out_ptr + row, tl.sum(total, 0))


@torch.fx.wrap
def products(query, key):
    rows, columns = query.shape
    out = torch.empty((rows,), dtype=query.dtype, device=query.device)
    product_kernel[(min(rows, CORES),)](query, key, out, rows, columns, LONGEST=1024, BLOCK=64)
    return out


def replacement_func():
    return products
