# Tries: a tuned kernel that adds by atomics, whose output the tuner resets, and whose configurations are pruned by
#   the number of rows before they are tried.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: column-mean

import torch
import triton
import triton.language as tl


def pattern(x):
    return x.mean(0)


def replacement_args(x):
    return (x,)


def worth_trying(configs, named_args, **kwargs):
    rows = {**named_args, **kwargs}["rows"]
    return [each for each in configs if each.kwargs["ROWS"] <= rows] or configs[-1:]


@triton.autotune(
    configs=[triton.Config({"ROWS": rows}, num_warps=warps) for rows in (1024, 16, 4) for warps in (4, 8)],
    key=["rows", "columns"],
    prune_configs_by={"early_config_prune": worth_trying},
    reset_to_zero=["out_ptr"],
)
@triton.jit
def mean_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, SIZE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, SIZE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(out_ptr + column, tl.sum(x, axis=0) / rows, mask=column < columns, sem="relaxed")


@torch.fx.wrap
def column_mean(x):
    rows, columns = x.shape
    out = torch.zeros((columns,), dtype=torch.float32, device=x.device)

    def grid(meta):
        return (triton.cdiv(rows, meta["ROWS"]),)

    mean_kernel[grid](x, out, rows, columns, SIZE=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return column_mean
