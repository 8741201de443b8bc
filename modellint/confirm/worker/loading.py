"""Whether HyperPyYAML can load a recipe, and which place keeps it from that.

A recipe is loaded twice: as it is, and with the place in question out of the way. What is raised only the first time
is what the place does. All other places that findings speak of are out of the way both times, so that none hides
another.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import inspect
import io
import os
import re
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from . import placement
from .beside import RECIPES
from .configs import located
from .standins import StandIn, described, stand_in, unwrapped
from .verdicts import CONFIRMED, UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modellint.claims.recipes import NoKey, NotLoaded, NotMade

    from .session import Session
    from .standins import StandIns

#: The functions of HyperPyYAML that make something, by tag, with the place of the name among their arguments.
_MAKERS = {
    "_construct_object": 1,
    "_construct_name": 1,
    "_construct_module": 1,
    "_apply_function": 1,
    "_applyref_function": 0,
}
#: What the functions say that there is none of.
_KINDS = {
    "_construct_object": "class",
    "_construct_name": "entity",
    "_construct_module": "module",
    "_apply_function": "callable",
}
_PLACEHOLDER = re.compile(r"(?<![\w!<])!PLACEHOLDER\b")
_FILLER = "placeholder"
_LINE = re.compile(r"\r\n|\r|\n")

#: A place, and what to write there: path, line, column, last line, column after the end, text.
Edit = list[Any]


class Loading:
    """A recipe as HyperPyYAML loads it, and what goes wrong on the way.

    `edits` are made in memory. Without `keys` nothing is built: objects and functions are inert stand-ins. Otherwise
    what stands below those keys is built, on fake tensors.
    """

    def __init__(
        self,
        path: str,
        overrides: Mapping[str, Any],
        stand_ins: StandIns,
        edits: Sequence[Edit] = (),
        keys: Sequence[str] | None = None,
    ) -> None:
        #: What went wrong: the name behind the tag that it is about, or nothing, and what happened.
        self.errors: list[tuple[str, str]] = []
        #: What the recipe names, in its order, with the function that makes something of it.
        self.named: dict[str, str] = {}
        #: Packages that recipes name and that are not there.
        self.missing: list[str] = []
        self.objects: dict[str, Any] = {}
        self._overrides = dict(overrides)
        self._stand_ins = stand_ins
        self._edits = edits
        self._keys = keys
        self._core: Any = stand_ins.module("hyperpyyaml.core")
        with self._patched(), placement.pretended():
            try:
                loader = self._loader()
                with self._open(path) as stream:
                    self.objects = self._core.load_hyperpyyaml(stream, self._overrides, loader=loader)
            except Exception as error:
                self.errors.append(("", _raised(error)))

    @contextmanager
    def _patched(self) -> Iterator[None]:
        core = self._core
        original = {name: getattr(core, name) for name in _MAKERS}
        for name, position in _MAKERS.items():
            setattr(core, name, self._noting(name, original[name], position))
        core.open = self._open
        try:
            yield
        finally:
            del core.open
            for name, make in original.items():
                setattr(core, name, make)

    def _open(self, path: str) -> io.StringIO:
        """A file of the recipe with the edits made and the placeholders filled."""
        with open(path, encoding="utf-8-sig", newline="") as stream:
            text = stream.read()
        real = os.path.realpath(path)
        mine = [edit for edit in self._edits if os.path.realpath(edit[0]) == real]
        found = io.StringIO(_PLACEHOLDER.sub(_FILLER, edited(text, mine)))
        found.name = path
        return found

    def _noting(self, maker: str, make: Callable[..., Any], position: int) -> Callable[..., Any]:
        """What makes something of a name, with a stand-in and a note where that fails."""

        def made(*arguments: Any) -> Any:
            name = arguments[position]
            if self._keys is None:
                if position:
                    self.named.setdefault(name, maker)
                    self._core._load_node(arguments[0], arguments[2])
                return stand_in(name)() if position else None
            top = name.partition(".")[0]
            if not self._is_there(top):
                if top not in self.missing:
                    self.missing.append(top)
                return stand_in(name)()
            try:
                found = self._stand_ins.importing(lambda: make(*arguments))
            except Exception as error:
                self.errors.append((name, _raised(error)))
                return stand_in(name)()
            if refusal := _refusal(found):
                self.errors.append((name, refusal))
            if isinstance(found, StandIn) or (isinstance(found, type) and issubclass(found, StandIn)):
                self.missing.append(name)
            return found

        return made

    def lacks(self) -> str | None:
        """What HyperPyYAML raises of the first name that its package does not have; None if there is none.

        Of packages that are not there, or cannot be imported for want of others, nothing is known.
        """
        for name, maker in self.named.items():
            top = name.partition(".")[0]
            if hasattr(builtins, top) or not self._is_there(top):
                continue
            try:
                found = located(name, self._stand_ins)
            except AttributeError:
                return f"raises ImportError: There is no such {_KINDS[maker]} as {name}"
            except Exception:
                continue
            is_known = not isinstance(found, StandIn) and not (isinstance(found, type) and issubclass(found, StandIn))
            if maker == "_construct_object" and is_known and not inspect.isclass(found):
                return f"raises ValueError: !new:{name} should be a class, but is a {type(found).__name__}"
        return None

    def _is_there(self, package: str) -> bool:
        if package in self._stand_ins.names:
            return False
        try:
            return hasattr(builtins, package) or importlib.util.find_spec(package) is not None
        except (ImportError, ValueError):
            return False

    def _loader(self) -> Any:
        loading, keys = self, self._keys

        class Loader(self._core.ruamel.yaml.Loader):  # type: ignore[name-defined]
            def construct_object(self, node: Any, deep: bool = True) -> Any:
                if node in self.recursive_objects and node not in self.constructed_objects:
                    loading.errors.append(("", f"puts `None` in the place of the `{node.tag}` that is being made"))
                return super().construct_object(node, deep)

            def get_single_node(self) -> Any:
                root = super().get_single_node()
                if keys is not None:
                    root.value = [(key, value) for key, value in root.value if key.value in keys]
                return root

        return Loader


def _refusal(found: object) -> str | None:
    """What is wrong with a function that was prepared with arguments which it cannot take."""
    if not isinstance(found, functools.partial):
        return None
    try:
        signature = inspect.signature(found.func)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind_partial(*found.args, **found.keywords)
    except TypeError as error:
        return f"prepares a call that {_raised(error)}"
    return None


def _raised(error: Exception) -> str:
    return f"raises {described(unwrapped(error))}"


def edited(text: str, edits: Sequence[Edit]) -> str:
    """A text with what stands at places replaced."""
    starts = [0, *(match.end() for match in _LINE.finditer(text))]
    for _, line, column, end_line, end_column, new in sorted(edits, key=lambda edit: edit[1:3], reverse=True):
        start, end = starts[line - 1] + column - 1, starts[end_line - 1] + end_column - 1
        text = text[:start] + new + text[end:]
    return text


def loading(session: Session, claim: NotLoaded | NotMade) -> Verdict:
    """Whether the place of a claim keeps its recipe from being loaded, or what its tag names from being made."""
    session.begin("loading the recipe")
    mine = _edit(claim)
    others: list[Edit] = []
    for edit in map(_edit, session.claims(RECIPES.NotLoaded, RECIPES.NotMade)):
        if not any(_overlap(edit, known) for known in (mine, *others)):
            others.append(edit)
    path, about, says, keys = session.target, "", "", None
    if isinstance(claim, RECIPES.NotMade):
        about, says, keys = claim.target, claim.says, [claim.key]
    found = Loading(path, session.overrides, session.stand_ins, others, keys)
    mended = Loading(path, session.overrides, session.stand_ins, [*others, mine], keys)
    for place, said in found.errors:
        if place == about and (place, said) not in mended.errors and says in said:
            return confirmed(f"loading the recipe {said}")
    lacking = [name for name in found.missing if name.partition(".")[0] == about.partition(".")[0]]
    if lacking:
        return unconfirmed(f"`{lacking[0].partition('.')[0]}` is not installed")
    if found.errors:
        return unconfirmed(f"before that, loading the recipe {found.errors[0][1]}")
    return refuted("HyperPyYAML loads the recipe")


def _edit(claim: NotLoaded | NotMade) -> Edit:
    """What takes the place of a claim out of the way."""
    return [*claim.place.as_list(), getattr(claim, "instead", "")]


def _overlap(one: Edit, other: Edit) -> bool:
    if os.path.realpath(one[0]) != os.path.realpath(other[0]):
        return False
    return one[1:5] == other[1:5] or (one[1:3] < other[3:5] and other[1:3] < one[3:5])


def reading(session: Session, claim: NoKey) -> Verdict:
    """Whether a recipe has the key that a script asks it for, or overrides (`is_override`); nothing of it is built."""
    session.begin("loading the recipe")
    key, is_override = claim.key, claim.is_override
    overrides = {**session.overrides, key: None} if is_override else session.overrides
    found = Loading(session.target, overrides, session.stand_ins)
    if found.errors:
        said = found.errors[0][1]
        is_it = is_override and f"Override '{key}' not found" in said
        status = CONFIRMED if is_it else UNCONFIRMED
        return Verdict(status, "cpu" if is_it else None, f"loading the recipe {said}")
    try:
        getattr(SimpleNamespace(**found.objects), key)
    except AttributeError as error:
        detail = f"with the recipe loaded, reading the key raises {described(error)}"
        return confirmed(detail)
    return refuted(f"the recipe has `{key}` when it is loaded")
