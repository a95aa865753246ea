import torch
from rope_common import rope_dispatch


def pattern(freqs, scale):
    emb = torch.cat((freqs, freqs), dim=-1)
    a = emb.cos()
    b = a * scale
    c = emb.sin()
    d = c * scale
    e = b.to(dtype=torch.float32)
    f = d.to(dtype=torch.float32)
    return e.unsqueeze(1), f.unsqueeze(1)


def replacement_args(freqs, scale):
    return (freqs, scale, "fp32")


def replacement_func():
    return rope_dispatch
