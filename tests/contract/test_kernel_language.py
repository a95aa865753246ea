"""The tables of what a Triton function may use agree with the installed Triton."""

import pkgutil
import types

import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl

from passnet_core.bundles.static_rules import kernel_language as tables
from passnet_core.judge.plan import kernel_loading

INTERNAL = frozenset({"to_ir", "mangle", "codegen_name", "cache_key_part", "is_dtype", "signature"})
"""Names that Triton's own compiler asks for."""


def public(owner: object) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_") and not name.isupper()} - INTERNAL


def test_every_attribute_of_a_block_is_part_of_the_language() -> None:
    block = tl.tensor(None, tl.block_type(tl.float32, [2]))
    assert public(block) == tables.OF_BLOCKS - {"T"} | tables.HANDLES
    descriptor = public(tl.tensor_descriptor)
    assert descriptor - tables.OF_BLOCKS == tables.OF_DESCRIPTORS - {"strides"}


def test_every_attribute_of_a_type_is_part_of_the_language() -> None:
    kinds = [tl.float16, tl.int32, tl.pointer_type(tl.float32), tl.block_type(tl.float32, [2])]
    found = set().union(*map(public, kinds))
    assert found - {"address_space", "const", "shape", "numel"} == tables.OF_TYPES


def test_no_other_module_is_reached_through_the_language() -> None:
    names = [tl.__name__, *(each.name for each in pkgutil.walk_packages(tl.__path__, "triton.language."))]
    modules = [__import__(name, fromlist=["_"]) for name in names if "hip" not in name]
    reached = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, types.ModuleType)
        and not value.__name__.startswith("triton.language")
        and not name.startswith("_")
    }
    assert reached <= tables.BESIDES_LANGUAGE | {"math"}, reached - tables.BESIDES_LANGUAGE


def test_what_a_kernel_is_loaded_with_is_what_it_may_use() -> None:
    assert {*kernel_loading.OF_TRITON, "tools"} == tables.OF_TRITON
    assert all(hasattr(triton, name) for name in tables.OF_TRITON)
    assert set(kernel_loading.BUILTINS) >= tables.IN_CONSTANTS - {"sorted"}
