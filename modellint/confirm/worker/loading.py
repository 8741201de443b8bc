"""The probe of loading: whether HyperPyYAML can load a recipe, and which place prevents it.

A recipe is loaded twice: as it is, and with the place in question replaced. An error only of the first load is due
to the place. All other places with findings are replaced both times, so that none hides another.
"""

from __future__ import annotations

import builtins
import functools
import importlib
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
from .configs import locate
from .standins import StandIn, described, stand_in, unwrapped
from .verdicts import CONFIRMED, UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modellint.claims.recipes import NoKey, NotLoaded, NotMade

    from .session import Session
    from .standins import StandIns

#: The functions of HyperPyYAML that resolve a tag's name, with the position of the name among their arguments.
_MAKERS = {
    "_construct_object": 1,
    "_construct_name": 1,
    "_construct_module": 1,
    "_apply_function": 1,
    "_applyref_function": 0,
}
#: The kinds of objects in the functions' error messages.
_KINDS = {
    "_construct_object": "class",
    "_construct_name": "entity",
    "_construct_module": "module",
    "_apply_function": "callable",
}
_PLACEHOLDER = re.compile(r"(?<![\w!<])!PLACEHOLDER\b")
_FILLER = "placeholder"
_LINE = re.compile(r"\r\n|\r|\n")

#: The error of a class without a constructor, which names none of the arguments that it refuses.
_NO_ARGUMENTS = "() takes no arguments"

#: A replacement at a place: path, line, column, last line, column after the end, text.
Edit = list[Any]


class Loading:
    """A recipe as HyperPyYAML loads it, with the errors on the way.

    `edits` are made in memory. Without `keys` nothing is built: objects and functions are inert stand-ins. Otherwise
    the nodes below those keys are built, on fake tensors.
    """

    def __init__(
        self,
        path: str,
        overrides: Mapping[str, Any],
        stand_ins: StandIns,
        edits: Sequence[Edit] = (),
        keys: Sequence[str] | None = None,
    ) -> None:
        #: The errors: the name in the tag, or "", and the message.
        self.errors: list[tuple[str, str]] = []
        #: The names in the recipe's tags, in its order, each with the function of HyperPyYAML that resolves it.
        self.named: dict[str, str] = {}
        #: Packages that tags name, but that are not installed.
        self.missing: list[str] = []
        self.objects: dict[str, Any] = {}
        self._overrides = dict(overrides)
        self._stand_ins = stand_ins
        self._edits = edits
        self._keys = keys
        self._core: Any = stand_ins.module("hyperpyyaml.core")
        with self._patch_core(), placement.pretended():
            try:
                loader = self._loader()
                with self._open(path) as stream:
                    self.objects = self._core.load_hyperpyyaml(stream, self._overrides, loader=loader)
            except Exception as error:
                self.errors.append(("", _raises_text(error)))

    @contextmanager
    def _patch_core(self) -> Iterator[None]:
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
        found = io.StringIO(_PLACEHOLDER.sub(_FILLER, apply_edits(text, mine)))
        found.name = path
        return found

    def _noting(self, maker: str, make: Callable[..., Any], position: int) -> Callable[..., Any]:
        """Wrap a function that resolves a tag's name: where it fails, it notes the error and gives a stand-in."""

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
                self.errors.append((name, _raises_text(error)))
                return stand_in(name)()
            if refusal := _refusal(found):
                self.errors.append((name, refusal))
            if isinstance(found, StandIn) or (isinstance(found, type) and issubclass(found, StandIn)):
                self.missing.append(name)
            return found

        return made

    def lacks(self) -> str | None:
        """The error of HyperPyYAML for the first name that its package does not have; None if there is none.

        Of packages that are not there, or cannot be imported for want of others, nothing is known.
        """
        for name, maker in self.named.items():
            top = name.partition(".")[0]
            if hasattr(builtins, top) or not self._is_there(top):
                continue
            try:
                found = locate(name, self._stand_ins)
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
    """The error of a prepared function (`!name:`) whose arguments do not fit its signature; None if they do."""
    if not isinstance(found, functools.partial):
        return None
    try:
        signature = inspect.signature(found.func)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind_partial(*found.args, **found.keywords)
    except TypeError as error:
        return f"prepares a call that {_raises_text(error)}"
    return None


def _raises_text(error: Exception) -> str:
    return f"raises {described(unwrapped(error))}"


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with the spans of edits replaced."""
    starts = [0, *(match.end() for match in _LINE.finditer(text))]
    for _, line, column, end_line, end_column, new in sorted(edits, key=lambda edit: edit[1:3], reverse=True):
        start, end = starts[line - 1] + column - 1, starts[end_line - 1] + end_column - 1
        text = text[:start] + new + text[end:]
    return text


def loading(session: Session, claim: NotLoaded | NotMade) -> Verdict:
    """Load the recipe: confirmed if the place of the claim prevents that, or building the name in its tag."""
    session.begin("loading the recipe")
    mine = _edit(claim)
    others: list[Edit] = []
    for edit in map(_edit, session.claims(RECIPES.NotLoaded, RECIPES.NotMade)):
        if not any(_overlap(edit, known) for known in (mine, *others)):
            others.append(edit)
    if isinstance(claim, RECIPES.NotLoaded) and session.target.endswith(".py"):
        return _config_verdict(session.target, [edit for edit in others if edit[-1]], mine, claim.wanted)
    path, about, says, keys = session.target, "", "", None
    if isinstance(claim, RECIPES.NotMade):
        about, says, keys = claim.target, claim.says, [claim.key]
    found = Loading(path, session.overrides, session.stand_ins, others, keys)
    mended = Loading(path, session.overrides, session.stand_ins, [*others, mine], keys)
    for place, said in found.errors:
        if place == about and (place, said) not in mended.errors and (says in said or _NO_ARGUMENTS in said):
            return confirmed(f"loading the recipe {said}")
    lacking = [name for name in found.missing if name.partition(".")[0] == about.partition(".")[0]]
    if lacking:
        return unconfirmed(f"`{lacking[0].partition('.')[0]}` is not installed")
    if found.errors:
        return unconfirmed(f"before that, loading the recipe {found.errors[0][1]}")
    return refuted("HyperPyYAML loads the recipe")


def _config_verdict(path: str, others: list[Edit], mine: Edit, wanted: str) -> Verdict:
    """Load a configuration with mmengine: confirmed if the place of a claim prevents that."""
    try:
        library: Any = importlib.import_module("mmengine.config.config")
    except ImportError:
        return unconfirmed("`mmengine` is not installed")

    def error_with(edits: list[Edit]) -> Exception | None:
        def open_filled(file: Any, *arguments: Any, **options: Any) -> Any:
            stream = open(file, *arguments, **options)  # noqa: SIM115
            if os.path.realpath(file) != os.path.realpath(path):
                return stream
            with stream:
                return io.StringIO(apply_edits(stream.read(), edits))

        library.open = open_filled
        try:
            library.Config.fromfile(path)
        except Exception as error:
            return error
        finally:
            del library.open
        return None

    error = error_with(others)
    if error is None:
        return refuted("`Config.fromfile` loads the configuration")
    told = f"loading the configuration raises {described(error)}"
    mended = error_with([*others, mine]) if mine[-1] else None
    is_it = wanted in str(error) and str(mended) != str(error)
    return confirmed(told) if is_it else unconfirmed(told)


def _edit(claim: NotLoaded | NotMade) -> Edit:
    """The edit that removes the cause that a claim names."""
    return [*claim.place.as_list(), getattr(claim, "instead", "")]


def _overlap(one: Edit, other: Edit) -> bool:
    if os.path.realpath(one[0]) != os.path.realpath(other[0]):
        return False
    return one[1:5] == other[1:5] or (one[1:3] < other[3:5] and other[1:3] < one[3:5])


def reading(session: Session, claim: NoKey) -> Verdict:
    """Load the recipe: confirmed if it lacks the key that its script reads or overrides; nothing is built."""
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
