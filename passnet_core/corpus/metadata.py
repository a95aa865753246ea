"""Read and write weight_meta.py and input_meta.py. They look like Python but hold data: parsed with ast, never run."""

import ast
import math
import re
from collections.abc import Mapping, Sequence

from passnet_core.errors import BadInput
from passnet_core.operations.table import dtype
from passnet_core.outside import syntax_tree
from passnet_core.records import TensorSpec
from passnet_core.records.text import valid

CLASS_PREFIX = "Program_weight_tensor_meta_"
ATTRIBUTES = ("name", "original_name", "shape", "dtype", "device", "mean", "std", "min_val", "max_val", "data")
EXAMPLE_VALUES = "dynamic_dim_constraint_symbol2example_value"
"""The dict in input_tensor_constraints.py that gives an example value for each symbolic size."""


def read_specs(text: str, where: str) -> tuple[TensorSpec, ...]:
    """Return one record per class, in the file's order. Raises BadInput naming the file, the line and the attribute."""
    classes = (each for each in parsed(text, where).body if isinstance(each, ast.ClassDef))
    return tuple(_spec(each, where) for each in classes)


def write_specs(specs: Sequence[TensorSpec]) -> str:
    """Return the text of a file that read_specs turns into the same records."""
    return "\n\n".join(_written(spec) for spec in specs)


def read_example_sizes(text: str, where: str) -> dict[str, int]:
    """Return the example values of symbolic sizes in input_tensor_constraints.py, by lower-case symbol."""
    for statement in parsed(text, where).body:
        match statement:
            case ast.Assign(targets=targets, value=ast.Dict(keys=keys, values=values)) if any(
                isinstance(target, ast.Name) and target.id == EXAMPLE_VALUES for target in targets
            ):
                return {
                    key.id.lower(): value.value
                    for key, value in zip(keys, values)
                    if isinstance(key, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, int)
                }
    return {}


def parsed(text: str, where: str) -> ast.Module:
    """Parse a file of a task. Raises BadInput naming it and the line."""
    try:
        return syntax_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise BadInput(f"{where}{line} is not Python: {reason}. Restore the original file.") from None


def _spec(statement: ast.ClassDef, where: str) -> TensorSpec:
    place = f"{where} line {statement.lineno}, class {statement.name}"
    fields: dict[str, object] = {}
    for line in statement.body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1:
            target, value = line.targets[0], line.value
        elif isinstance(line, ast.AnnAssign) and line.value is not None:
            target, value = line.target, line.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id in ATTRIBUTES:
            fields[target.id] = _literal(value, f"{where} line {line.lineno}: {target.id}")
    name = fields.get("name", statement.name.removeprefix(CLASS_PREFIX))
    if not isinstance(name, str) or not name:
        raise BadInput(f"{place}: name must be text, not {name!r}.")
    kind = _text(fields, "dtype", place, default=None).removeprefix("torch.")
    return TensorSpec(
        name=valid(name),
        shape=_shape(fields, place),
        dtype=dtype(f"torch.{kind}").removeprefix("torch."),
        device=_text(fields, "device", place, default="cuda:0"),
        mean=_number(fields, "mean", place),
        std=_number(fields, "std", place),
        low=_number(fields, "min_val", place),
        high=_number(fields, "max_val", place),
        data=_data(fields, place),
        original_name=_text(fields, "original_name", place, default=""),
    )


def _literal(node: ast.expr, where: str) -> object:
    """Evaluate a literal. Besides Python's own, real files contain float("inf"), nan and torch.float32."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item, where) for item in items]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _literal(operand, where)
            if isinstance(number, int | float):
                return -number if isinstance(sign, ast.USub) else number
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
        case ast.Call(
            func=ast.Name(id="float"), args=[ast.Constant(value=str() | int() | float() as value)], keywords=[]
        ):
            try:
                return float(value)
            except ValueError:
                pass
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return f"torch.{name}"
    raise BadInput(f"{where} is not a literal: {ast.unparse(node)[:60]}. Metadata is data and is never executed.")


def _text(fields: Mapping[str, object], key: str, place: str, *, default: str | None) -> str:
    value = fields.get(key)
    if default is not None and value in (None, ""):
        return default
    if not isinstance(value, str) or not value:
        raise BadInput(f"{place}: {key} must be text, not {value!r}." if key in fields else f"{place} has no {key}.")
    return valid(value)


def _number(fields: Mapping[str, object], key: str, place: str) -> float | None:
    value = fields.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{place}: {key} must be a number, not {value!r}.")
    # nan was recorded for a statistic that could not be computed
    return None if math.isnan(value) else float(value)


def _shape(fields: Mapping[str, object], place: str) -> tuple[int, ...]:
    value = fields.get("shape")
    if not isinstance(value, list) or not all(type(size) is int and size >= 0 for size in value):
        raise BadInput(f"{place}: shape must be a list of whole numbers, not {value!r}.")
    return tuple(value)


def _data(fields: Mapping[str, object], place: str) -> tuple[float, ...] | None:
    value = fields.get("data")
    if value is None:
        return None
    flat: list[float] = []
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending.extend(reversed(each))
        elif isinstance(each, bool | int | float):
            flat.append(float(each))
        else:
            raise BadInput(f"{place}: data must be a list of numbers, not {each!r}.")
    return tuple(flat)


def _written(spec: TensorSpec) -> str:
    whole = "float" not in spec.dtype and "complex" not in spec.dtype
    lines = [
        f"class {CLASS_PREFIX}{re.sub('[^0-9A-Za-z_]', '_', spec.original_name or spec.name)}:",
        f"\tname = {_quoted(spec.name)}",
        f"\toriginal_name = {_quoted(spec.original_name)}",
        f"\tshape = {list(spec.shape)}",
        f"\tdtype = {_quoted('torch.' + spec.dtype)}",
        f"\tdevice = {_quoted(spec.device)}",
    ]
    numbers = {"mean": spec.mean, "std": spec.std}
    lines += [f"\t{key} = {_spelled(value, False)}" for key, value in numbers.items()]
    limits = {"min_val": spec.low, "max_val": spec.high}
    lines += [f"\t{key} = {_spelled(value, whole)}" for key, value in limits.items() if value is not None]
    if spec.data is not None:
        lines.append(f"\tdata = [{', '.join(_spelled(value, whole) for value in spec.data)}]")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text + '"' if text.isprintable() and not set(text) & set('"\\') else repr(text)


def _spelled(value: float | None, whole: bool) -> str:
    if value is None:
        return "None"
    if not math.isfinite(value):
        return f'float("{value}")'
    return str(int(value)) if whole and value == int(value) else repr(value)
