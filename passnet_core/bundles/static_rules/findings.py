"""Check a bundle against the static rules by its syntax trees. A finding has a line, a column and a remedy.

The rules help honest authors who make a mistake. They cannot stop a determined cheat: for that the judge watches what
really runs. Neither profile looks at files that nobody loads. The passnet profile checks each pass alone by PassNet's
own rule, leaves out those that break it, and checks no helper. The strict profile checks all files, allows torch
functions that compute nothing, such as streams and device properties, and refuses everything that no honest pass
needs."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from passnet_core.bundles.reading import is_plain_name, naming_problems
from passnet_core.bundles.static_rules import passnet as passnet_rule
from passnet_core.bundles.static_rules.imports import never_loaded
from passnet_core.bundles.static_rules.kernel_language import kernel_language
from passnet_core.bundles.static_rules.mistakes import mistakes, on_the_cpu
from passnet_core.bundles.static_rules.replacements import over_cap
from passnet_core.bundles.static_rules.required import required_functions
from passnet_core.bundles.static_rules.rules import FILE_NAME
from passnet_core.bundles.static_rules.scopes import Module, parsed
from passnet_core.bundles.static_rules.strict import StrictVisitor
from passnet_core.records import Bundle, Finding, PassFile


@dataclass(frozen=True)
class Admission:
    """What the static rules let a judge load of a bundle. findings: in the order of files and lines; a fatal one
    rejects the bundle. left_out: for each file that is not loaded as a pass or helper, a sentence that says why."""

    bundle: Bundle
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()


def findings(bundle: Bundle, replacement_cap: int | None = None, *, passnet: bool = False) -> tuple[Finding, ...]:
    """Return all findings on the files of the bundle that are loaded. The arguments are those of admitted."""
    return admitted(bundle, replacement_cap, passnet=passnet).findings


def alignment_questions(bundle: Bundle) -> frozenset[str]:
    """The lines, as "file.py:12", on which a bundle asks of an address only how it is aligned, as the rules allow."""
    trees = {file: parsed(file) for file in bundle.files}
    modules = _modules(bundle, trees)
    lines = set()
    for module in modules.values():
        visitor = StrictVisitor(module, modules)
        visitor.findings()
        for asked in visitor.alignments:
            lines |= {f"{module.file.name}:{line}" for line in range(asked.lineno, (asked.end_lineno or 0) + 1)}
    return frozenset(lines)


def admitted(bundle: Bundle, replacement_cap: int | None = None, *, passnet: bool = False) -> Admission:
    """Apply the static rules to a bundle.

    replacement_cap: most distinct replacement functions; None: any number. passnet: by PassNet's own rule, which does
    not apply the cap before the passes are loaded."""
    unloaded = never_loaded(bundle)
    ignored = tuple(f"{file.name} is ignored: it is not a pass, and no loaded file imports it." for file in unloaded)
    loaded = replace(bundle, helpers=tuple(file for file in bundle.helpers if file not in unloaded))
    if problems := naming_problems(loaded):
        first = loaded.files[0].name
        return Admission(
            loaded, tuple(Finding(first, 1, 1, FILE_NAME, each, "Rename the file.") for each in problems), ignored
        )
    if not passnet:
        return Admission(loaded, _in_order(_strict_findings(loaded, replacement_cap), loaded.files), ignored)
    return _admitted_by_passnet(bundle, ignored)


def _strict_findings(bundle: Bundle, replacement_cap: int | None) -> list[Finding]:
    trees = {file: parsed(file) for file in bundle.files}
    found = [tree for tree in trees.values() if isinstance(tree, Finding)]
    modules = _modules(bundle, trees)
    passes = [module for module in modules.values() if module.is_pass]
    for module in passes:
        found += required_functions(module)
        found += mistakes(module, modules)
    for module in modules.values():
        found += on_the_cpu(module, modules)
        found += StrictVisitor(module, modules).findings()
    found += kernel_language(modules)
    if replacement_cap is not None:
        found += over_cap(passes, modules, replacement_cap)
    return found


def _modules(bundle: Bundle, trees: Mapping[PassFile, ast.Module | Finding]) -> dict[str, Module]:
    """The files that are valid Python, by the names under which they import each other."""
    return {
        file.name.removesuffix(".py"): Module(file, tree, file in bundle.passes)
        for file, tree in trees.items()
        if not isinstance(tree, Finding)
    }


def _admitted_by_passnet(bundle: Bundle, ignored: tuple[str, ...]) -> Admission:
    """Leave out the passes that break PassNet's rule. All files stay there to be imported, as in PassNet's folder. The
    findings are fatal only if no pass is left."""
    found = {file: _in_order(_passnet_findings(file), [file]) for file in bundle.passes}
    kept = tuple(file for file, objections in found.items() if not objections)
    names = {file.name for file in kept}
    others = {file.name: file for file in bundle.files if is_plain_name(file.name) and file.name not in names}
    flat = tuple(replace(each, fatal=not kept) for objections in found.values() for each in objections)
    modules = _modules(bundle, {file: parsed(file) for file in bundle.files})
    usual = [each for module in modules.values() if module.file in kept for each in mistakes(module, modules)]
    left_out = tuple(_left_out(objections) for objections in found.values() if objections)
    admitted = replace(bundle, passes=kept, helpers=tuple(others.values()))
    return Admission(admitted, _in_order((*flat, *usual), bundle.files), (*left_out, *ignored))


def _passnet_findings(file: PassFile) -> list[Finding]:
    tree = parsed(file)
    return [tree] if isinstance(tree, Finding) else passnet_rule.violations(Module(file, tree, is_pass=True))


def _left_out(objections: Sequence[Finding]) -> str:
    first, more = objections[0], len(objections) - 1
    rest = f" ({more} more)" if more else ""
    return f"{first.file} is left out: line {first.line}, rule {first.rule}: {first.message}{rest}"


def _in_order(found: Iterable[Finding], files: Sequence[PassFile]) -> tuple[Finding, ...]:
    """Each finding once, in the order of the files and their lines."""
    order = {file.name: place for place, file in enumerate(files)}
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda each: (order[each.file], each.line, each.column)))
