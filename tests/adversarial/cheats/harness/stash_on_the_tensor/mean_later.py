import torch


def pattern(x):
    return x.mean(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def average_that_hangs_there(x):
    return x.average


def replacement_func():
    return average_that_hangs_there
