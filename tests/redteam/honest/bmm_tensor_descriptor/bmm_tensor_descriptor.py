import torch
import triton
import triton.language as tl


def pattern(lhs, rhs):
    return torch.bmm(lhs, rhs)


def replacement_args(lhs, rhs):
    return (lhs, rhs)


@triton.jit
def bmm_tma_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    batch = tl.program_id(2).to(tl.int64)
    off_m = tl.program_id(0) * BM
    off_n = tl.program_id(1) * BN
    a = tl.make_tensor_descriptor(a_ptr + batch * M * K, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b = tl.make_tensor_descriptor(b_ptr + batch * K * N, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c = tl.make_tensor_descriptor(c_ptr + batch * M * N, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for off_k in range(0, K, BK):
        # a descriptor fills what lies outside of its shape with zeros
        acc += tl.dot(a.load([off_m, off_k]), b.load([off_k, off_n]), input_precision="ieee")
    c.store([off_m, off_n], acc.to(c_ptr.dtype.element_ty))


def _workspace(size: int, alignment: int, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


@torch.fx.wrap
def bmm_with_descriptors(lhs, rhs):
    lhs = lhs.contiguous()
    rhs = rhs.contiguous()
    B, M, K = lhs.shape
    N = rhs.shape[2]
    # rows must begin at multiples of 16 bytes
    assert K * lhs.element_size() % 16 == 0 and N * rhs.element_size() % 16 == 0
    triton.set_allocator(_workspace)
    out = torch.empty((B, M, N), dtype=lhs.dtype, device=lhs.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), B)
    bmm_tma_kernel[grid](lhs, rhs, out, M, N, K, BM=32, BN=32, BK=32, num_warps=4)
    return out


def replacement_func():
    return bmm_with_descriptors
