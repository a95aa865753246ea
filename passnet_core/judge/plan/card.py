"""What a planner, which has no GPU, is told of the one that its plans are for."""

from typing import Any

import torch
from triton.runtime import driver


def card() -> dict[str, Any]:
    """What a planner is told of this GPU: the fields of pretended_device.Properties."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    told = driver.active.utils.get_device_properties(torch.cuda.current_device())
    return {
        "name": properties.name,
        "multi_processor_count": properties.multi_processor_count,
        "total_memory": properties.total_memory,
        "L2_cache_size": properties.L2_cache_size,
        "clock_rate": told["sm_clock_rate"],
        "memory_clock_rate": told["mem_clock_rate"],
        "memory_bus_width": told["mem_bus_width"],
        "major": properties.major,
        "minor": properties.minor,
        "warp_size": properties.warp_size,
        "max_threads_per_multi_processor": properties.max_threads_per_multi_processor,
        "regs_per_multiprocessor": properties.regs_per_multiprocessor,
        "shared_memory_per_block": properties.shared_memory_per_block,
        "shared_memory_per_block_optin": told["max_shared_mem"],
        "shared_memory_per_multiprocessor": properties.shared_memory_per_multiprocessor,
    }
