import torch
import triton
import triton.language as tl


def pattern(x, running_mean, running_var, weight, bias):
    y = torch.nn.functional.batch_norm(x, running_mean, running_var, weight, bias, False, 0.1, 1e-05)
    return torch.nn.functional.relu(y, inplace=False)


def replacement_args(x, running_mean, running_var, weight, bias):
    return (x, running_mean, running_var, weight, bias)


@triton.heuristics(
    {
        "BLOCK_HW": lambda args: min(1024, triton.next_power_of_2(args["HW"])),
        "num_warps": lambda args: 1 if args["HW"] <= 256 else 4,
    }
)
@triton.jit
def bn_relu_kernel(
    x_ptr, mean_ptr, var_ptr, w_ptr, b_ptr, out_ptr,
    C, HW, eps,
    BLOCK_HW: tl.constexpr,
):
    n = tl.program_id(2)
    c = tl.program_id(1)
    hw = tl.program_id(0) * BLOCK_HW + tl.arange(0, BLOCK_HW)
    mask = hw < HW
    mean = tl.load(mean_ptr + c).to(tl.float32)
    var = tl.load(var_ptr + c).to(tl.float32)
    w = tl.load(w_ptr + c).to(tl.float32)
    b = tl.load(b_ptr + c).to(tl.float32)
    inv_std = 1.0 / tl.sqrt(var + eps)
    offs = (n * C + c).to(tl.int64) * HW + hw
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    y = (x - mean) * inv_std * w + b
    y = tl.where(y < 0.0, 0.0, y)  # keeps NaN, like torch
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def bn_relu(x, running_mean, running_var, weight, bias):
    x = x.contiguous()
    N, C = x.shape[0], x.shape[1]
    HW = x.numel() // (N * C)
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(HW, META["BLOCK_HW"]), C, N)
    bn_relu_kernel[grid](x, running_mean, running_var, weight, bias, out, C, HW, 1e-05)
    return out


def replacement_func():
    return bn_relu
