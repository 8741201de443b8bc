"""Class paths: the class or function that one leads to, and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.parameters import (
    UNKNOWN,
    Takes,
    constructor_fields,
    described_fields,
    function_fields,
    inherited_names,
)
from modellint.dialects.lightning_cli.types import Object, Type, read_type
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import dataclass, replace
from modellint.knowledge import canonical
from modellint.knowledge.catalogue import catalogue
from modellint.link.names import DefinedFunction
from modellint.link.recipes.targets import ResolvedName, TargetKind, locate, resolve_described
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modellint.graph.python import Function
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The modules that have the parts of a trainer, which LightningCLI imports.
_PARTS = ("callbacks", "loggers", "strategies", "profilers", "plugins", "accelerators")
#: The similarity of a misspelt name of torch, in whose earlier releases other names may be.
_SLIP = 0.85
#: The kinds of definitions that a class path may lead to.
_OF_CLASSES = (TargetKind.CLASS, TargetKind.FUNCTION)


@dataclass(frozen=True, eq=False, slots=True)
class Callee:
    """The class or function that a class path leads to, with the fields that jsonargparse finds for it."""

    name: str
    resolved: ResolvedName
    model: ClassModel | None
    function: Function | None
    takes: Takes

    @property
    def is_missing(self) -> bool:
        """True if the path certainly leads to nothing."""
        resolved = self.resolved
        return resolved.kind is TargetKind.MISSING and (resolved.is_sure or bool(self.near))

    @property
    def near(self) -> list[str]:
        """The names that a path which leads to nothing may mean."""
        return get_close_matches(self.resolved.missing, sorted(self.resolved.available), n=3, cutoff=0.7)

    def derives_from(self, base: Object) -> bool | None:
        """True if it is a class that derives from another one; None if that is not known."""
        if self.model is None:
            return None
        names = {canonical(name) for name in inherited_names(self.model.mro())}
        if canonical(base.name) in names or (base.model is not None and base.model in self.model.mro()):
            return True
        return False if self.model.is_complete and base.model is not None else None


def callee_of(name: str, near: Sequence[Path], project: Project) -> Callee:
    """The class or function that a dotted path leads to from the files `near`."""

    near = _homes(name, near, project)

    def find() -> Callee:
        resolved = _resolve(name, near, project)
        for path in near:
            definition = project.names.absolute(name, path)
            model = project.classes.of(definition)
            if model is not None:
                is_read = model.cls is not None
                takes = constructor_fields(model, project) if is_read else described_fields(resolved.signatures)
                return Callee(name, resolved, model, None, takes)
            if isinstance(definition, DefinedFunction):
                function = definition.function
                return Callee(name, resolved, None, function, function_fields(function, project))
        is_known = resolved.kind in _OF_CLASSES
        return Callee(name, resolved, None, None, described_fields(resolved.signatures) if is_known else UNKNOWN)

    return project.once(("cli callee", name, tuple(near)), find)


def _homes(name: str, near: Sequence[Path], project: Project) -> tuple[Path, ...]:
    """The files `near`; the package of a name elsewhere in the project if no file near has it in its path."""
    top = name.partition(".")[0]
    path = project.names.path
    if any(True for one in near for _ in path.holding(top, one)):
        return tuple(near)
    found = project.once(("package folders",), lambda: _package_folders(project)).get(top, ())
    return (found[0],) if len(found) == 1 else tuple(near)


def _package_folders(project: Project) -> dict[str, list[Path]]:
    """The packages of a project by name, each by its `__init__.py`: a workspace may have several folders of them."""
    found: dict[str, list[Path]] = {}
    for path in files_below(project, project.options.root, ("__init__.py",)):
        if not project.files.exists(path.parent.parent / path.name):
            found.setdefault(path.parent.name, []).append(path)
    return found


def _resolve(name: str, near: Sequence[Path], project: Project) -> ResolvedName:
    """The definition that a dotted name resolves to; one of torch by its facts, as its source is never read."""
    resolved = locate(name, tuple(near), project)
    if resolved.kind is not TargetKind.UNKNOWN:
        return resolved
    if name.startswith("torch."):
        found = resolve_described(name, project)
        return replace(found, is_sure=False) if found.kind is not TargetKind.UNKNOWN else _misspelt_in_torch(name)
    return _misspelt_module(name, near, project) or resolved


def _misspelt_in_torch(name: str) -> ResolvedName:
    """The failure of a name that is a slip of one in the described release of torch, whichever the project asks for."""
    owner, _, last = name.rpartition(".")
    known = catalogue("torch")
    module = None if known is None else known.module(owner)
    if module is None or module.may_have_more_names or last in module.names() or last in module.others:
        return ResolvedName(TargetKind.UNKNOWN)
    close = get_close_matches(last, sorted(module.classes | module.functions.keys()), n=1, cutoff=_SLIP)
    if not close:
        return ResolvedName(TargetKind.UNKNOWN)
    return ResolvedName(TargetKind.MISSING, (), owner, last, frozenset(close), package="torch", is_sure=False)


def _misspelt_module(name: str, near: Sequence[Path], project: Project) -> ResolvedName | None:
    """The failure of a name whose first part is a misspelt module of the project; None for another name."""
    top, dot, rest = name.partition(".")
    path = project.names.path
    if not dot or any(True for one in near for _ in path.holding(top, one)):
        return None
    for one in near:
        for other in get_close_matches(top, sorted(path.beside(one)), n=3, cutoff=0.75):
            if locate(f"{other}.{rest}", (one,), project).kind in _OF_CLASSES:
                return ResolvedName(TargetKind.MISSING, missing=top, available=frozenset((other,)), is_sure=False)
    return None


def named_callee(name: str, base: Object, near: Sequence[Path], project: Project) -> Callee | None:
    """The class that a name without dots stands for where an object of a class is expected; None if it is not known.

    jsonargparse looks among the subclasses that are imported: those beside the class, and in the packages around it.
    """
    parts = base.name.split(".")
    if parts[-1] == name:
        return callee_of(base.name, near, project)
    for end in range(len(parts) - 1, 0, -1):
        found = callee_of(".".join((*parts[:end], name)), near, project)
        if found.resolved.kind is TargetKind.CLASS:
            return found
    words = (f"class {name}",)
    for path in project.files.mentioning(project.options.root, *words):
        module = project.python(path)
        cls = None if module is None else module.classes.get(name)
        if cls is not None:
            model = project.classes.model(cls)
            resolved = ResolvedName(TargetKind.CLASS, place=cls.place)
            return Callee(name, resolved, model, None, constructor_fields(model, project))
    return None


def part_callee(name: str, home: str, near: Sequence[Path], project: Project) -> Callee | None:
    """The part of a trainer of Lightning that a name without dots stands for; None for another name."""
    for module in _PARTS:
        found = callee_of(f"{home}.{module}.{name}", near, project)
        if found.resolved.kind is TargetKind.CLASS:
            return found
    return None


def near_names(name: str, base: Object, near: Sequence[Path], project: Project) -> list[str]:
    """The names of imported subclasses that a name without dots may mean."""
    parts = base.name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        missing = project.names.missing(".".join((*parts[:end], name)), near[0])
        resolved = _resolve(".".join((*parts[:end], name)), near, project)
        available = missing.available if missing is not None else resolved.available
        close = get_close_matches(name, sorted(available), n=3, cutoff=0.8)
        if close:
            return close
    return []


def returned_type(function: Function, project: Project) -> Type | None:
    """The type that a function is annotated to return; None without an annotation."""
    returns = function.signature.returns
    return None if returns is None else read_type(returns, function.module, project)
