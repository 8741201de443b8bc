"""Targets of `!new:`, `!name:`, `!apply:` and `!module:`: the definitions they resolve to, and kinds a tag refuses.

HyperPyYAML resolves a name like `pydoc.locate`: its longest prefix that is a module, then attributes.
"""

from __future__ import annotations

import builtins
import sys
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.arguments import Misfit, bind
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, Recipe, TagKind
from modellint.knowledge import libraries
from modellint.knowledge.catalogue import catalogue
from modellint.link import library_names
from modellint.link.classes.passed_on import whole_parameters
from modellint.link.classes.signatures import Parameters, constructor_parameters
from modellint.link.names import DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.link.recipes.eras import is_for_earlier
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.pairing import including, scripts_of
from modellint.link.requirements import required

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from modellint.knowledge.catalogue import Catalogue, Earlier
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition
    from modellint.link.project import Project
    from modellint.source import Place

_TARGETS = (TagKind.NEW, TagKind.NAME, TagKind.APPLY, TagKind.APPLYREF, TagKind.TARGET, TagKind.MODULE)
#: From how many releases on only the first and last are told.
_MANY = 4
#: Attributes that all modules, classes and functions have: `torch.optim.__getattribute__`.
_OF_ALL = frozenset(name for name in (*dir(ModuleType), *dir(object)) if name.startswith("__"))


class TargetKind(Enum):
    CLASS = "a class"
    FUNCTION = "a function"
    MODULE = "a module"
    VALUE = "neither a class nor a function"
    MISSING = "missing"
    UNKNOWN = "unknown"


_KINDS = {"class": TargetKind.CLASS, "function": TargetKind.FUNCTION, "module": TargetKind.MODULE}


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The definition that a name resolves to.

    `signatures` are its possible parameter lists, empty if unknown. If MISSING, `owner` is the module
    that lacks the part `missing`, and `available` are its names. `place` is where it is defined, `releases` are those
    of the package described by shipped facts, if those were used. `is_sure`: no other module can be meant.
    `others` are releases that have the MISSING name, and `moved` is its new name in `releases`.
    `is_guessed`: the releases were guessed from the names in the recipe. `definition` is the dotted name of the one
    class or function that a registry, or a path, gives for the name.
    """

    kind: TargetKind
    signatures: tuple[Parameters, ...] = ()
    owner: str = ""
    missing: str = ""
    available: frozenset[str] = frozenset()
    place: Place | None = None
    package: str = ""
    releases: tuple[str, ...] = ()
    is_sure: bool = True
    others: str = ""
    moved: str = ""
    is_guessed: bool = False
    definition: str = ""

    def misfits(self, positional: int, keywords: Collection[str], *, is_final: bool) -> list[Misfit]:
        """The reasons for which it takes no call with so many arguments by position, and these by name.

        Empty if one of its signatures takes them, or if none is known. Not `is_final`: more arguments may follow.
        """
        given, named = (None,) * positional, dict.fromkeys(keywords)
        found = [bind(one, given, named, is_final=is_final).misfits for one in self.signatures]
        return found[0] if found and all(found) else []


_UNKNOWN = ResolvedName(TargetKind.UNKNOWN)


@dataclass(frozen=True, eq=False)
class TaggedItem:
    """An object whose tag names a class, function or module, and the recipe (`whole`) in which it is loaded."""

    item: Item
    whole: Recipe
    _project: Project = field(repr=False)

    @property
    def name(self) -> str:
        """The dotted name in the tag, without empty parts."""
        return ".".join(part for part in self.item.node.tag.target.split(".") if part)

    @cached_property
    def target(self) -> ResolvedName:
        """The definition that the name resolves to when one of the scripts of `whole`, or anybody, loads it."""
        return locate_in(self.name, self.whole, self._project)

    @property
    def likely_target(self) -> ResolvedName:
        """The target, in the earlier releases of its package if the recipe is written for them, by a guess."""
        target = self.target
        known = catalogue(target.package) if target.package else None
        earlier = None if known is None else known.earlier
        if known is None or earlier is None or not is_for_earlier(self.whole, target.package, self._project):
            return target
        return replace(_of_earlier(self.name, known, earlier), is_guessed=True)

    @property
    def whole_target(self) -> ResolvedName:
        """The likely target, in plain configurations with the arguments that its constructor passes on to a base."""
        target = self.likely_target
        is_open = any(one.kind == "var-keyword" for signature in target.signatures for one in signature)
        if self.whole.dialect is Dialect.HYPERPYYAML or target.kind is not TargetKind.CLASS or not is_open:
            return target
        name, whole, project = self.name, self.whole, self._project
        near, folders = project.once(("near", whole.file), lambda: _near(whole, project))
        found = project.once(("passed on", name, folders), lambda: _passed_on(name, near, project))
        return target if found is None else replace(target, signatures=(found,))

    @property
    def is_refused(self) -> bool:
        """True if the tag takes no definition of the target's kind: `!new:` takes no function."""
        node = self.item.node
        return self.target.kind in _refused(node.tag.kind, bool(node.entries or node.elements))


def tagged_items(recipe: Recipe, project: Project, *, by_argument: bool = False) -> Iterator[TaggedItem]:
    """The objects with tags in `recipe`; also those `by_argument` that only get arguments there, from Hydra."""
    seen: set[int] = set()
    for whole in including(recipe, project):
        for item in evaluate(whole, project).own:
            node = item.node
            is_plain = recipe.dialect is Dialect.HYPERPYYAML and project.recipe(item.recipe.file) is None
            is_given = by_argument and any(one.recipe is recipe for one in item.fields.values())
            is_own = item.recipe is recipe or (whole is recipe and is_plain) or is_given
            if node.tag.kind in _TARGETS and id(node) not in seen and is_own and item.kind is not ItemKind.CONSTANT:
                seen.add(id(node))
                yield TaggedItem(item, whole, project)


def _refused(tag: TagKind, has_arguments: bool) -> Collection[TargetKind]:
    """The kinds of definitions that a tag refuses."""
    match tag:
        case TagKind.NEW:
            return (TargetKind.FUNCTION, TargetKind.MODULE)
        case TagKind.APPLY | TagKind.APPLYREF:
            return (TargetKind.CLASS, TargetKind.MODULE)
        case TagKind.MODULE:
            return (TargetKind.CLASS, TargetKind.FUNCTION)
        case TagKind.TARGET:
            return (TargetKind.MODULE,)
        case TagKind.NAME if has_arguments:
            return (TargetKind.MODULE,)
    return ()


def locate_in(name: str, whole: Recipe, project: Project) -> ResolvedName:
    """The definition that a dotted name resolves to when one of the scripts of a recipe, or anybody, loads it."""
    near, folders = project.once(("near", whole.file), lambda: _near(whole, project))
    return project.once(("target", name, folders), lambda: locate(name, near, project))


# -- resolution --------------------------------------------------------------------------------------------------


def _near(whole: Recipe, project: Project) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The files from which names in a recipe are resolved, and their folders."""
    near = (*scripts_of(whole, project).scripts, whole.file)
    return near, tuple(dict.fromkeys(path.parent for path in near))


def locate(name: str, near: tuple[Path, ...], project: Project) -> ResolvedName:
    """The definition that a dotted name resolves to from the first of some files in which it resolves to any."""
    if not name:
        return ResolvedName(TargetKind.MODULE)
    if "." not in name:
        return _builtin(name, near, project)
    found = [_from(name, path, project) for path in near]
    known = [target for target in found if target.kind not in (TargetKind.MISSING, TargetKind.UNKNOWN)]
    if known:
        return known[0]
    missing = [target for target in found if target.kind is TargetKind.MISSING]
    return missing[0] if len(missing) == len(found) else _UNKNOWN


def class_of_item(item: Item, project: Project) -> ClassModel | None:
    """The class that an object of a recipe or configuration names; None if it is no class, or an unknown one."""
    recipe, classes = item.recipe, project.classes
    if recipe.dialect is Dialect.HYPERPYYAML:
        return classes.resolve(item.target, recipe.file)
    if recipe.dialect is Dialect.OPENMMLAB:
        from modellint.dialects.registries import definition_named

        return classes.of(definition_named(item.target, recipe.file, project))
    near, _ = project.once(("near", recipe.file), lambda: _near(recipe, project))
    return next((model for path in near if (model := classes.resolve(item.target, path)) is not None), None)


def _passed_on(name: str, near: tuple[Path, ...], project: Project) -> Parameters | None:
    """The parameters of a class with those that it passes on to a base; None if they are uncertain."""
    models = (project.classes.of(project.names.absolute(name, path)) for path in near)
    model = next((one for one in models if one is not None), None)
    return None if model is None else whole_parameters(model, project.classes)


def _builtin(name: str, near: tuple[Path, ...], project: Project) -> ResolvedName:
    """The resolution of a name without a dot: a module, or a builtin."""
    if any(project.names.find_module(name, path) is not None for path in near):
        return ResolvedName(TargetKind.MODULE)
    value = getattr(builtins, name, None)
    if value is None:
        return _UNKNOWN
    return ResolvedName(TargetKind.CLASS if isinstance(value, type) else TargetKind.FUNCTION)


def _from(name: str, near: Path, project: Project) -> ResolvedName:
    """The resolution of a dotted name in the file `near`."""
    top = name.partition(".")[0]
    target = _read(name, near, project)
    if target.kind is TargetKind.MISSING and target.missing in _OF_ALL:
        return _UNKNOWN
    if target.kind is TargetKind.MISSING and not target.is_sure:
        return _with_slip(name, target, near, project)
    is_known = target.kind is not TargetKind.UNKNOWN or any(True for _ in project.names.path.holding(top, near))
    return target if is_known or top in sys.stdlib_module_names else _misspelt(name, top, near, project)


def _misspelt(name: str, top: str, near: Path, project: Project) -> ResolvedName:
    """MISSING if a name of an unknown package resolves once a slip in its first part is corrected; else unknown."""
    for other in sorted({*project.names.path.beside(near), *knowledge.PACKAGES, *libraries.packages()}):
        if is_slip(top, other) or _is_slip_at_end(top, other):
            meant = _read(f"{other}{name[len(top) :]}", near, project)
            if meant.kind in (TargetKind.CLASS, TargetKind.FUNCTION):
                return ResolvedName(TargetKind.MISSING, missing=top, available=frozenset((other,)))
    return _UNKNOWN


def _with_slip(name: str, target: ResolvedName, near: Path, project: Project) -> ResolvedName:
    """A missing name, certainly so if the whole resolves once a slip in the missing part is corrected."""
    start = name.find(target.missing, len(target.owner))
    for other in sorted(target.available) if start >= 0 else ():
        if is_slip(target.missing, other) or _is_slip_at_end(target.missing, other):
            meant = _read(f"{name[:start]}{other}{name[start + len(target.missing) :]}", near, project)
            if meant.kind in (TargetKind.CLASS, TargetKind.FUNCTION):
                return replace(target, available=frozenset((other,)), is_sure=True)
    return target


def _is_slip_at_end(written: str, meant: str) -> bool:
    """True if a word is another one whose first or last letter is lost, doubled or swapped with the one beside it."""
    swapped = {meant[1::-1] + meant[2:], meant[:-2] + meant[:-3:-1]}
    others = {meant[1:], meant[:-1], meant[:1] + meant, meant + meant[-1:], *swapped}
    return len(meant) > 1 and written != meant and written in others


def is_slip(written: str, meant: str) -> bool:
    """True if a word is another one with one inner letter lost, added or swapped with the next."""
    if written == meant or written[:1] != meant[:1] or written[-1:] != meant[-1:]:
        return False
    short, long = sorted((written, meant), key=len)
    if len(long) - len(short) == 1:
        return any(long[:at] + long[at + 1 :] == short for at in range(1, len(long) - 1))
    swaps = (meant[:at] + meant[at + 1] + meant[at] + meant[at + 2 :] for at in range(len(meant) - 1))
    return len(long) == len(short) and written in swaps


def _read(name: str, near: Path, project: Project) -> ResolvedName:
    """The resolution of a dotted name in the file `near`, by source or by the shipped catalogue."""
    written = project.names.absolute(name, near)
    target = resolve_definition(written, project)
    if target.kind is not TargetKind.UNKNOWN:
        return target if target.signatures or target.package else _as_installed(name, target, near, project)
    if isinstance(written, External) and (named := _of_library(written.name, near, project)) is not None:
        return named
    missing = project.names.missing(name, near)
    if missing is not None:
        return ResolvedName(
            TargetKind.MISSING,
            owner=missing.owner,
            missing=missing.name,
            available=missing.available,
            is_sure=missing.is_sure,
        )
    top = name.partition(".")[0]
    is_here = any(True for _ in project.names.path.holding(top, near))
    return _UNKNOWN if is_here else resolve_described(name, project)


def resolve_definition(definition: Definition | None, project: Project) -> ResolvedName:
    """The resolution of a definition that can be read, or of a class that the shipped facts describe."""
    match definition:
        case DefinedFunction(function):
            if function.owner is not None:
                return ResolvedName(TargetKind.FUNCTION, place=function.place)
            plain = not function.signature.decorators
            return ResolvedName(TargetKind.FUNCTION, (function.parameters,) if plain else (), place=function.place)
        case DefinedModule():
            return ResolvedName(TargetKind.MODULE)
        case DefinedConstant():
            return ResolvedName(TargetKind.VALUE)
        case None:
            return _UNKNOWN
    classes = project.classes
    model = classes.of(definition)
    if model is None:
        return _UNKNOWN
    place = model.cls.place if model.cls is not None else None
    package = "" if model.cls is not None else model.name.partition(".")[0]
    wanted = required(package, project) if package else None
    if wanted is not None and not wanted.is_described:
        return _UNKNOWN
    is_any_release = wanted is None or len(wanted.admitted) > 1
    signatures = constructor_parameters(model, classes, any_release=is_any_release, follows_keywords=True)
    releases = knowledge.package(package).releases if package else ()
    return ResolvedName(TargetKind.CLASS, signatures, place=place, package=package, releases=releases)


def _of_library(name: str, near: Path, project: Project) -> ResolvedName | None:
    """The resolution of a name that one of the described libraries has, or lacks; None if that is not known."""
    if any(True for _ in project.names.path.holding(name.partition(".")[0], near)):
        return None  # its source is there
    home, found = libraries.library_of(name), library_names.look_up(name, project)
    if home is None or found is None:
        return None
    wanted = library_names.releases(home.distribution, project)
    if isinstance(found, library_names.Found) and not library_names.is_pinned(home.distribution, project):
        newest = libraries.find(name, wanted[:1])  # what is installed where nothing says which
        found = newest if isinstance(newest, library_names.Absent) and newest.is_sure else found
    told = wanted if len(wanted) < _MANY else (f"{wanted[-1]} to {wanted[0]}",)
    if isinstance(found, library_names.Absent):
        return ResolvedName(
            TargetKind.MISSING,
            owner=found.owner,
            missing=found.missing,
            available=found.available,
            package=home.distribution,
            releases=told,
            is_sure=found.is_sure,
            others=" and ".join(found.others[:_MANY]),
            moved=found.moved,
        )
    kind = _KINDS.get(found.kind, TargetKind.VALUE)
    return ResolvedName(kind, found.signatures, package=home.distribution, releases=told)


def _as_installed(name: str, target: ResolvedName, near: Path, project: Project) -> ResolvedName:
    """A class or function of an installed library, with the parameters that the facts of its release have.

    They are asked for where the source does not tell them, as behind a decorator.
    """
    top = name.partition(".")[0]
    folders = project.names.path.holding(top, near)
    if libraries.library_of(name) is None or not folders or folders[0] not in project.names.path.packages:
        return target
    found = library_names.as_installed(name, project)
    if found is None or _KINDS.get(found.kind) is not target.kind:
        return target
    return replace(target, signatures=found.signatures)


def resolve_described(name: str, project: Project) -> ResolvedName:
    """The resolution of a name by the shipped catalogue, whatever is installed."""
    top = name.partition(".")[0]
    known = catalogue(top)
    if known is None:
        return _UNKNOWN
    wanted = required(top, project)
    earlier = known.earlier
    if wanted is not None and not wanted.is_described:
        is_earlier = earlier is not None and wanted.admits_any(earlier.releases)
        return _UNKNOWN if earlier is None or not is_earlier else _of_earlier(name, known, earlier)
    written, name = name, known.redirected(name)
    parts = name.split(".")
    depth = max((n for n in range(1, len(parts) + 1) if ".".join(parts[:n]) in known.modules), default=0)
    owner = ".".join(parts[:depth])
    module = known.module(owner)
    if depth == len(parts):
        return ResolvedName(TargetKind.MODULE)
    if module is None:  # only some modules of the package are described
        inside = frozenset(known.submodules(top))
        names_module = len(parts) > 2
        target = ResolvedName(TargetKind.MISSING, (), top, parts[1], inside, package=top, is_sure=False)
        return target if names_module else _UNKNOWN
    part = parts[depth]
    last = depth + 1 == len(parts)
    kind = TargetKind.CLASS if part in module.classes else TargetKind.FUNCTION if part in module.functions else None
    if kind is not None and not last:
        return _UNKNOWN
    if kind is not None:
        return ResolvedName(kind, module.signatures(part), package=top, releases=known.releases)
    if part in module.others or module.may_have_more_names:
        return _UNKNOWN
    available = frozenset(module.names() | known.submodules(owner))
    is_gone = earlier is not None and earlier.lacks(written) is None
    homes = known.homes(parts[-1]) if is_gone else set()
    return ResolvedName(
        TargetKind.MISSING,
        owner=owner,
        missing=part,
        available=available,
        package=top,
        releases=known.releases,
        others=earlier.told if earlier is not None and is_gone else "",
        moved=f"{homes.pop()}.{parts[-1]}" if len(homes) == 1 else "",
    )


def _of_earlier(name: str, known: Catalogue, earlier: Earlier) -> ResolvedName:
    """The resolution of a name in the releases older than the described ones, with its parameters there."""
    top = name.partition(".")[0]
    lacking = earlier.lacks(name)
    if lacking is not None:
        owner, part = lacking
        now = known.redirected(name)
        module = known.module(now.rpartition(".")[0])
        is_there = now in known.modules or (module is not None and now.rpartition(".")[2] in module.names())
        return ResolvedName(
            TargetKind.MISSING,
            owner=owner,
            missing=part,
            available=frozenset(earlier.names(owner)),
            package=top,
            releases=(earlier.told,),
            others=" and ".join(known.releases) if is_there else "",
        )
    owner, _, last = name.rpartition(".")
    is_class = earlier.is_class(name)
    if is_class is None:
        module = known.module(owner)
        if module is None or last not in (module.classes | module.functions.keys()):
            return ResolvedName(TargetKind.MODULE) if name in earlier.modules else _UNKNOWN
        is_class = last in module.classes
    kind = TargetKind.CLASS if is_class else TargetKind.FUNCTION
    return ResolvedName(kind, earlier.signatures(name), package=top, releases=(earlier.told,))
