"""Static rules for bundles, by reading their syntax: what PassNet's checker refuses, with line, column and remedy.

The rules are for honest authors who slip. They cannot stop a determined cheat: the judge looks at what really runs.
By PassNet's profile only its own rule holds. The strict profile allows what computes nothing besides, such as streams
and the properties of the device, and refuses what no honest pass needs.
"""

from passnet_core.bundles.reading import is_plain_name, naming_problems
from passnet_core.bundles.static_rules.passnet import PassNetVisitor
from passnet_core.bundles.static_rules.replacements import over_cap
from passnet_core.bundles.static_rules.required import required_functions
from passnet_core.bundles.static_rules.rules import FILE_NAME
from passnet_core.bundles.static_rules.scopes import Module, parsed
from passnet_core.bundles.static_rules.strict import StrictVisitor
from passnet_core.records import Bundle, Finding


def findings(bundle: Bundle, replacement_cap: int | None = None, *, passnet: bool = False) -> tuple[Finding, ...]:
    """Every remark of the rules on the bundle, in the order of its files and lines. None fatal: not rejected.

    passnet: only PassNet's own rule, to the letter.
    """
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
    if replacement_cap is not None:
        found += over_cap([module for module in modules.values() if module.is_pass], modules, replacement_cap)
    order = {file.name: place for place, file in enumerate(bundle.files)}
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda each: (order[each.file], each.line, each.column)))
