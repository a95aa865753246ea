# Tries: the operators as functions of Python's own module.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Subgraph: scale-bias
import operator

import torch


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@torch.fx.wrap
def scaled(x, weight, bias):
    return operator.add(operator.mul(x, weight), bias)


def replacement_func():
    return scaled
