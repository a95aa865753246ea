import torch
import triton
import triton.language as tl


def pattern(distances, edges):
    return (distances.unsqueeze(-1) > edges).sum(-1)


def replacement_args(distances, edges):
    return (distances, edges)


@triton.jit
def bin_kernel(distance_ptr, edge_ptr, out_ptr, n, edges, BLOCK: tl.constexpr, EDGES: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    number = tl.arange(0, EDGES)
    distance = tl.load(distance_ptr + at, mask=at < n, other=0.0)
    edge = tl.load(edge_ptr + number, mask=number < edges, other=float("inf"))
    beyond = (distance[:, None] >= edge[None, :]) & (number < edges)[None, :]
    tl.store(out_ptr + at, tl.sum(beyond.to(tl.int64), 1), mask=at < n)


@torch.fx.wrap
def binned(distances, edges):
    distances, edges = distances.contiguous(), edges.contiguous()
    out = torch.empty(distances.shape, dtype=torch.int64, device=distances.device)
    n = out.numel()
    bin_kernel[(triton.cdiv(n, 128),)](
        distances, edges, out, n, edges.numel(), BLOCK=128, EDGES=triton.next_power_of_2(edges.numel())
    )
    return out


def replacement_func():
    return binned
