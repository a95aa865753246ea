# Tries: the folder of the pass is put on sys.path before its helper is imported, as real bundles do.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: add-relu
# Passes: add_relu_pass.py

import os
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shared_add import add_relu


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


def replacement_func():
    return add_relu
