"""Read and write tasks in PassNet's folder layout. read_task and write_task are each other's inverse."""

import ast
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from passnet_core import outside
from passnet_core.corpus.metadata import parsed, read_example_sizes, read_specs, write_specs
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.graphs.fingerprint import structure
from passnet_core.graphs.source import parse
from passnet_core.graphs.spelling import NO_OPS
from passnet_core.outside import syntax_tree
from passnet_core.records import Family, Subgraph, Task, TensorSpec

GRAPH_LIST = "graph_list.txt"
ABOUT = "task.json"
"""The file with family and split. Only this project writes it: PassNet's tools ignore it, and it may be missing."""
IMPORTED = "imported"
"""The split of a task without task.json."""
LARGEST_FILE_BYTES = 64 * 1024 * 1024


def is_task(folder: Path) -> bool:
    """Whether the folder holds a task, or a single subgraph."""
    return any((folder / name).is_file() for name in (GRAPH_LIST, "model.py")) or (folder / "graphs").is_dir()


def read_task(folder: Path) -> Task:
    """Read the task in this folder; a folder with model.py itself is a task of one subgraph. Nothing is executed.
    Reads the subgraphs that graph_list.txt names; without that file, every one below graphs/. Raises BadInput naming
    the file."""
    root = folder.resolve()
    if not root.is_dir():
        raise BadInput(f"There is no folder {folder}. Give the name of a task, or a folder in PassNet's layout.")
    if not root.name.isprintable():
        raise BadInput(f"The name of the folder {outside.quoted(root.name)} cannot be printed. Rename it.")
    family, split = _about(root)
    places = _places(root)
    subgraphs = tuple(read_subgraph(root, place, root.name) for place in places)
    return Task(root.name, family or guess_family(subgraphs), split, subgraphs)


def read_subgraph(root: Path, place: PurePosixPath, task_id: str) -> Subgraph:
    """Read the subgraph in root/place. Raises BadInput naming the file."""
    folder = root / place
    code = _read(root, folder / "model.py")
    if code is None:
        raise BadInput(f"{_shown(root, folder)} has no model.py. Restore it, or remove its line from {GRAPH_LIST}.")
    arguments = dict(forward_arguments(code, _shown(root, folder / "model.py")))
    specs: dict[str, TensorSpec] = {}
    for name in ("weight_meta.py", "input_meta.py"):
        path = folder / name
        for spec in read_specs(_read(root, path) or "", _shown(root, path)):
            if problem := _contradiction(spec, arguments, specs):
                raise BadInput(f"{_shown(root, path)}: {spec.name!r} {problem}. Restore these files.")
            specs[spec.name] = spec
    constraints = folder / "input_tensor_constraints.py"
    sizes = read_example_sizes(_read(root, constraints) or "", _shown(root, constraints))
    inputs: list[TensorSpec] = []
    for name, symbolic in arguments.items():
        if name in specs:
            inputs.append(specs[name])
        elif symbolic and name.lower() in sizes:
            inputs.append(TensorSpec(name, (), "int64", data=(float(sizes[name.lower()]),)))
        else:
            words = "is described in neither weight_meta.py nor input_meta.py"
            raise BadInput(f"{_shown(root, folder)}: forward's argument {name!r} {words}. Restore these files.")
    parts = place.parts[1:] if place.parts[:1] == ("graphs",) else place.parts
    subgraph_id = "/".join(parts) or root.name
    return Subgraph(subgraph_id, task_id, _source_model(root, folder), code, tuple(inputs))


def _contradiction(spec: TensorSpec, arguments: Mapping[str, bool], before: Mapping[str, TensorSpec]) -> str:
    """How a description contradicts itself, an earlier one, or the arguments of forward, as the end of a sentence that
    begins with its name; "" if it does not."""
    if before.get(spec.name, spec) != spec:
        return "is described twice, in different ways"
    if arguments.get(spec.name) and spec.shape:
        return f"is a number in model.py, and here a tensor of shape {list(spec.shape)}"
    if spec.data is not None and len(spec.data) != math.prod(spec.shape):
        return f"has {len(spec.data)} values for a tensor of shape {list(spec.shape)}"
    return ""


def forward_arguments(code: str, where: str) -> tuple[tuple[str, bool], ...]:
    """Return (name, whether it is a symbolic size) of forward's arguments. Raises BadInput naming the file."""
    for statement in parsed(code, where).body:
        for inner in statement.body if isinstance(statement, ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
                arguments = [*inner.args.posonlyargs, *inner.args.args][1:]
                annotations = [ast.unparse(each.annotation) if each.annotation else "" for each in arguments]
                return tuple((each.arg, "SymInt" in text) for each, text in zip(arguments, annotations))
    raise BadInput(f"{where} has no class with a forward method. It must define a GraphModule, as PassNet records it.")


def write_task(task: Task, folder: Path) -> None:
    """Write a task into a folder, which appears complete or not at all. Raises BadInput if it exists and is not empty,
    InfrastructureError if it cannot be written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} exists already. Choose another folder.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        growing = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            growing.chmod(0o755)
            for name, text in task_files(task):
                path = growing / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            os.replace(growing, folder)
        finally:
            # after the rename there is nothing left to remove
            shutil.rmtree(growing, ignore_errors=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{folder.parent} is not a folder, or in none. Choose another one.") from error
    except OSError as error:
        raise InfrastructureError(f"Task {task.id!r} cannot be written to {folder}: {error.strerror}.") from error


def task_files(task: Task) -> Iterator[tuple[str, str]]:
    """Yield (path below the task's folder, text) for every file of a task."""
    places = [f"graphs/{safe_path(subgraph.id)}" for subgraph in task.subgraphs]
    if len(set(places)) != len(places):
        raise BadInput(f"Task {task.id!r} has two subgraphs of the same name. Rename one.")
    yield GRAPH_LIST, "".join(f"{place}\n" for place in places)
    yield ABOUT, json.dumps({"family": task.family.value, "split": task.split}, indent=4) + "\n"
    for place, subgraph in zip(places, task.subgraphs):
        about = {
            "framework": "torch",
            "num_devices_required": 1,
            "num_nodes_required": 1,
            "dynamic": False,
            "model_name": subgraph.source_model,
        }
        yield f"{place}/model.py", subgraph.code
        yield f"{place}/weight_meta.py", write_specs(subgraph.inputs)
        yield f"{place}/input_meta.py", ""
        yield f"{place}/graph_net.json", json.dumps(about, indent=4) + "\n"
        yield f"{place}/graph_hash.txt", structure(parse(subgraph.code)) + "\n"


def safe_path(text: str) -> PurePosixPath:
    """Return the text as a relative path without "..". Raises BadInput for any other text."""
    path = PurePosixPath(text)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in text or not text.isprintable():
        raise BadInput(f"{text!r} is not a path below the task's folder. Use a relative path without '..'.")
    return path


def guess_family(subgraphs: tuple[Subgraph, ...]) -> Family:
    """Guess the family by the number of operations in the longest subgraph: 1 is single-operator, up to 64 fusible."""
    longest = max((_statements(subgraph.code) for subgraph in subgraphs), default=0)
    return Family.SINGLE if longest <= 1 else Family.FUSIBLE if longest <= 64 else Family.TYPICAL


def _statements(code: str) -> int:
    return sum(
        isinstance(node, ast.Assign | ast.AugAssign) and _is_operation(node.value)
        for node in ast.walk(syntax_tree(code))
    )


def _is_operation(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.Name():
            return False
        case ast.Call(func=function):
            return ast.unparse(function) not in NO_OPS
    return True


def _places(root: Path) -> list[PurePosixPath]:
    listed = _read(root, root / GRAPH_LIST)
    lines = [line.strip() for line in (listed or "").splitlines()]
    if any(lines):
        return list(dict.fromkeys(safe_path(line) for line in lines if line))
    if (root / "model.py").is_file():
        return [PurePosixPath(".")]
    found = sorted(path.parent.relative_to(root) for path in root.glob("graphs/**/model.py"))
    if not found:
        raise BadInput(
            f"{root.name or root} is not a task: it has neither {GRAPH_LIST} nor model.py. Choose another folder."
        )
    return [PurePosixPath(path.as_posix()) for path in found]


def _about(root: Path) -> tuple[Family | None, str]:
    text = _read(root, root / ABOUT)
    if not text:
        return None, IMPORTED
    about = _json(text, f"{root.name}/{ABOUT}")
    family, split = about.get("family"), about.get("split")
    names = [each.value for each in Family]
    if family not in names or not isinstance(split, str):
        raise BadInput(f"{root.name}/{ABOUT} must have a split (text) and a family (one of {', '.join(names)}).")
    return Family(family), split


def _source_model(root: Path, folder: Path) -> str:
    text = _read(root, folder / "graph_net.json")
    name = _json(text, _shown(root, folder / "graph_net.json")).get("model_name") if text and text.strip() else None
    return name if isinstance(name, str) and name else folder.resolve().name


def _json(text: str, where: str) -> dict[str, object]:
    try:
        data = outside.from_json_text(text)
    except ValueError as error:
        raise BadInput(f"{where} is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise BadInput(f"{where} must be a JSON object.")
    return data


def _read(root: Path, path: Path) -> str | None:
    """Return the file's text, or None if there is no file. Raises BadInput for a link that leads out of the task."""
    try:
        real = path.resolve()
        if not real.is_relative_to(root):
            raise BadInput(f"{_shown(root, path)} leads out of the task's folder. Replace the link by the file.")
        if not real.is_file():
            return None
        if real.stat().st_size > LARGEST_FILE_BYTES:
            raise BadInput(f"{_shown(root, path)} is larger than {LARGEST_FILE_BYTES >> 20} MiB, the limit for a file.")
        return real.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{_shown(root, path)} is not UTF-8 text.") from None
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{_shown(root, path)} cannot be read: {error}.") from None


def _shown(root: Path, path: Path) -> str:
    """Return the path from the task's name on, as messages show it."""
    return f"{root.name}/{path.relative_to(root).as_posix()}" if path != root else root.name
