"""Check a bundle against the static rules by its syntax trees. A finding has a line, a column and a remedy.

The rules help honest authors who make a mistake. They cannot stop a determined cheat: for that the judge watches what
really runs. The passnet profile applies only PassNet's own rule. The strict profile also allows torch functions that
compute nothing, such as streams and device properties, and refuses everything that no honest pass needs."""

from passnet_core.bundles.reading import is_plain_name, naming_problems
from passnet_core.bundles.static_rules.kernel_language import kernel_language
from passnet_core.bundles.static_rules.passnet import PassNetVisitor
from passnet_core.bundles.static_rules.replacements import over_cap
from passnet_core.bundles.static_rules.required import required_functions
from passnet_core.bundles.static_rules.rules import FILE_NAME
from passnet_core.bundles.static_rules.scopes import Module, parsed
from passnet_core.bundles.static_rules.strict import StrictVisitor
from passnet_core.records import Bundle, Finding


def findings(bundle: Bundle, replacement_cap: int | None = None, *, passnet: bool = False) -> tuple[Finding, ...]:
    """Return all findings on the bundle, in the order of its files and lines. A fatal one rejects the bundle.

    replacement_cap: most distinct replacement functions; None: any number. passnet: apply only PassNet's own rule."""
    found = [
        Finding(bundle.files[0].name, 1, 1, FILE_NAME, problem, "Rename the file.")
        for problem in naming_problems(bundle)
    ]
    modules: dict[str, Module] = {}
    for file in bundle.files:
        tree = parsed(file)
        if isinstance(tree, Finding):
            found.append(tree)
        elif is_plain_name(file.name):
            modules[file.name.removesuffix(".py")] = Module(file, tree, file in bundle.passes)
    for module in modules.values():
        if module.is_pass:
            found += required_functions(module)
        found += (PassNetVisitor if passnet else StrictVisitor)(module, modules).findings()
        if not passnet:
            found += kernel_language(module, modules)
    if replacement_cap is not None:
        found += over_cap([module for module in modules.values() if module.is_pass], modules, replacement_cap)
    order = {file.name: place for place, file in enumerate(bundle.files)}
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda each: (order[each.file], each.line, each.column)))
