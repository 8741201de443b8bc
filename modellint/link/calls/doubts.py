"""Whether a call certainly reaches what its name stands for: nothing replaces it, overrides it, or expects it to fail.

These questions look at more of the project than names do. They are asked where something seems wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, dotted, self_attribute
from modellint.link.classes.spoken import setters_of_others
from modellint.link.names import DefinedClass
from modellint.link.searched import is_searched, mentioning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.calls.reached import Reached
    from modellint.link.project import Project

#: Handlers of these errors catch what a call raises that does not fit.
_CATCHING = frozenset(("TypeError", "Exception", "BaseException"))
#: Folders and files in which a program is tried out.
_TRYING = frozenset(("test", "tests", "testing", "demo", "demos", "example", "examples"))


def is_certain(project: Project, function: Function, event: Event, reached: Reached) -> bool:
    """Whether the call of an event in a function reaches that definition, and is meant to succeed."""
    return not (
        is_expected_to_fail(event)
        or is_generator_source(project, function.module)
        or _is_chosen(project, function, event.value)
        or _is_replaced(project, function, reached)
        or (reached.is_open and is_overridden(project, reached))
        or (reached.function is not None and is_stub(reached.function) and reached.owner is not None)
    )


def is_expected_to_fail(event: Event) -> bool:
    """Whether a handler, or `pytest.raises`, catches what does not fit."""
    if not _CATCHING.isdisjoint(event.handled):
        return True
    for context in event.contexts:
        name = dotted(context.callee) if context.op is Op.CALL else None
        if name is not None and name.rpartition(".")[2] in ("raises", "assertRaises", "assertRaisesRegex", "suppress"):
            return True
    return False


def is_generator_source(project: Project, module: ModuleFacts) -> bool:
    """Whether another file beside this one is generated from it, so that it is never imported itself."""
    return project.once(("generator source", module.path), lambda: _is_generator_source(project, module))


def _is_generator_source(project: Project, module: ModuleFacts) -> bool:
    folder, own = module.file.parent, module.file.name.encode()
    for name in project.files.listdir(folder):
        if name.endswith(".py") and name != module.file.name:
            head = (project.files.read(folder / name) or b"")[:2_000]
            if b"generated" not in head:
                continue
            if own in head:
                return True
            other = project.python(folder / name)
            if other is not None and not other.classes.keys().isdisjoint(module.classes):
                return b"generated" not in (project.files.read(module.file) or b"")[:2_000]
    return False


def _is_chosen(project: Project, function: Function, call: Value) -> bool:
    """Whether a name that is called is bound more than once, so that an option or an import's failure chooses."""
    root = call.callee
    while root.op in (Op.ATTR, Op.CALL):
        root = root.args[0]
    if root.op is not Op.GLOBAL:
        return False
    head = str(root.data).partition(".")[0]
    module = function.module
    if head in module.rebound or is_shadowed(project, module, str(root.data)):
        return True
    if not _is_bound(module, head):
        return False
    # What the function imports for itself from its own package hides the module's name.
    return head in function.flow.imported


def is_shadowed(project: Project, module: ModuleFacts, name: str) -> bool:
    """Whether an imported name is found in a folder of a package that Python does not search, or in the file itself."""
    head = name.partition(".")[0]
    target = module.imports.get(head, name if "." in name else "")
    top = target.partition(".")[0]
    if not top or target == "torch" or target.startswith("torch."):
        return False
    base = next(iter(project.names.holding(top, module.file)), None)
    if base is None or base == module.file.parent:
        return False
    return base in module.file.parents and project.files.exists(base / "__init__.py")


def _is_bound(module: ModuleFacts, name: str) -> bool:
    return name in module.imports or name in module.functions or name in module.classes or name in module.constants


def _is_replaced(project: Project, function: Function, reached: Reached) -> bool:
    """Whether something assigns to the name of what is reached, in its own file or in the one that calls it."""
    target = reached.function
    homes = {function.module}
    names = [reached.attribute] if reached.attribute is not None else []
    if target is not None:
        homes.add(target.module)
        if target.owner is None and target.name in target.module.rebound:
            return True
        if target.owner is not None:
            if target.owner.qualname in target.owner.module.rebound or target.name in target.owner.rebound:
                return True
            names += [target.name] if target.name != "__init__" else []
    owner = reached.owner
    if owner is not None and owner.cls is not None:
        homes.add(owner.cls.module)
        if owner.cls.qualname in owner.cls.module.rebound:
            return True
    return any(_assigns(project, module, name, is_kept=name == reached.attribute) for module in homes for name in names)


def _assigns(project: Project, module: ModuleFacts, name: str, *, is_kept: bool) -> bool:
    """Whether a file assigns to an attribute of this name: of another object, where `self` keeps it itself."""
    if setters_of_others(module, name, project):
        return True
    return not is_kept and any(
        name in function.words and _stores(function, name) for function in module.all_functions()
    )


def _stores(function: Function, name: str) -> bool:
    targets = (event.target for event in function.flow.of(EventKind.STORE))
    return any(target is not None and self_attribute(target) == name for target in targets)


def is_overridden(project: Project, reached: Reached) -> bool:
    """Whether a subclass has a method of this name, which the call reaches instead, or may have one."""
    model = reached.owner
    if model is None or model.cls is None:
        return False
    name = "__init__" if reached.is_made or reached.function is None else reached.function.name
    relatives = subclasses(project, model.cls)
    is_known = is_searched(project, model.cls.module)
    return not is_known or any(name in cls.methods or name in cls.attributes for cls in relatives)


def subclasses(project: Project, cls: Class) -> tuple[Class, ...]:
    """The classes of the project that derive from a class, directly or not."""
    return project.once(("subclasses", cls.module.path, cls.qualname), lambda: tuple(_subclasses(project, cls)))


def _subclasses(project: Project, cls: Class) -> Iterator[Class]:
    seen = {cls}
    pending = [cls]
    for current in pending:
        homes = {current.module, *mentioning(project, current.module, "class", current.name)}
        for module in homes:
            for other in module.classes.values():
                if other not in seen and any(_is_base(project, base, other, current) for base in other.bases):
                    seen.add(other)
                    pending.append(other)
                    yield other


def _is_base(project: Project, base: Value, of: Class, cls: Class) -> bool:
    if base.op is Op.INDEX:  # Generic[T]
        base = base.args[0]
    if base.op not in (Op.GLOBAL, Op.ATTR):
        return True  # made by a call: perhaps this one
    written = str(base.data).rpartition(".")[2]
    if written != cls.name and written not in of.module.imports and written not in of.module.constants:
        return False
    definition = project.names.definition(of.module, base)
    if definition is None:
        return written == cls.name
    return isinstance(definition, DefinedClass) and definition.cls is cls


def is_stub(function: Function) -> bool:
    """Whether a body does nothing, so that subclasses say what it takes."""
    ends = []
    for event in function.flow.events:
        if event.guard is not None or event.kind not in (EventKind.RAISE, EventKind.CALL, EventKind.RETURN):
            return False
        if event.kind is not EventKind.CALL:
            ends.append(event)
    return all(_is_unwritten(event.value) for event in ends) if ends else not function.flow.events


def _is_unwritten(value: Value) -> bool:
    """Whether what a body raises or gives tells that it waits for a subclass."""
    if value.op is Op.CONST:
        return value.data is None
    plain = value.callee if value.op is Op.CALL else value
    return (dotted(plain) or "").rpartition(".")[2] in ("NotImplementedError", "NotImplemented")


def is_tried_out(project: Project, function: Function, event: Event) -> bool:
    """Whether a call stands in a test, a demonstration, or what a module does when it is run as a script."""
    file, root = function.module.file, project.options.root
    parts = file.relative_to(root).parts if root in file.parents else file.parts[-2:]
    names = [part.lower().removesuffix(".py") for part in parts]
    if any(n in _TRYING or n.startswith(("test_", "demo_")) or n.endswith(("_test", "_demo")) for n in names):
        return True
    if function.name != "<module>" or event.guard is None:
        return False
    return any(_is_main(guard.test) for guard in event.guard.chain() if guard.truthy)


def _is_main(test: Value) -> bool:
    return test.op is Op.COMPARE and any(a.op is Op.GLOBAL and a.data == "__name__" for a in test.args)
