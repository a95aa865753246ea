# Tries: machine code as bytes, called through ctypes on the tensors' addresses.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: forbidden-import | dynamic-code
# Subgraph: add-relu
import ctypes
import mmap

import torch

# a loop of movss, addss, maxss and movss over rcx elements
CODE = bytes.fromhex(
    "0f57c931c04839c87d18f30f100487f30f580486f30f5fc1f30f11048248ffc0ebe3c3"
)


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    native(a.data_ptr(), b.data_ptr(), out.data_ptr(), a.numel())
    return out


def replacement_func():
    return add_relu
