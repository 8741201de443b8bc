"""The memo of calls: the keys by which calls are distinguished, and their remembered results.

A run of look-ups remembers each call that it follows until it ends. A call with constant arguments has the same result
in all runs: frameworks check again and again if a package is installed, or which version it has. Its result is
remembered for the project, and forgotten by dependency, if it holds no value of a body: only constants, plain and
unknown atoms. Most are kept for later runs, too.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from modellint.flow.domain import NO_ARGUMENTS, ClassRef, Constant, Outside, Plain, Real, Tensor, Unknown, function_of
from modellint.flow.heap import TENSORS, Shell, tensors_held, tensors_in
from modellint.graph.immutable import dataclass, replace
from modellint.graph.python import Function
from modellint.graph.value import Nested
from modellint.link.remembered import Form

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, Element, FunctionRef, Site
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Trail
    from modellint.flow.interp import Interpreter

Noted = TypeVar("Noted")
#: The most calls of a function that are followed if they differ only in objects made by the same expressions: a
#: recursive function makes new objects at every call, as many as there are ways to get there.
_MOST_ALIKE = 8
#: The types of constants that a question for later runs may name.
_TOLD = (str, int, bool)
#: The form of a summary that is kept for later runs.
_KEPT = Form(tuple)


@dataclass(frozen=True, slots=True)
class CallSummary:
    """The result of a call, the functions that it runs, and its number of steps."""

    atoms: Atoms
    done: frozenset[Function]
    steps: int


@dataclass(frozen=True, slots=True)
class Followed(Generic[Noted]):
    """A call that was followed: its arguments, its result, and the notes of the theory that asked for it."""

    given: Arguments
    atoms: Atoms
    noted: Noted


class Memo:
    """The followed calls of a run and, for the whole project, calls with constant arguments."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._followed: dict[Hashable, Followed[Any]] = {}
        #: The number of followed calls by form (the key with objects of the same expressions made equal).
        self._followed_alike: dict[Hashable, int] = {}
        #: The number of calls under way as the current summary began; fewer if outer ones cut off a call within it.
        self._limit: int | None = None

    def key(self, function: FunctionRef, given: Arguments, alike: tuple[type, ...] | None = None) -> Hashable:
        """The key of a call: everything that its result depends on; atoms of the kinds `alike` count as equal."""
        run, code = self._run, function.code
        return (
            code if isinstance(code, Nested) else function_of(code) or code,
            function.frame,
            _turns_around(function.frame),
            function.receiver,
            function.above,
            given if alike is None else _shape_of(given, alike),
            run.objects.is_at_work,
            *run.asked.state(),
        )

    def once(self, key: Hashable, given: Arguments, follow: Callable[[], tuple[Atoms, Noted]]) -> Followed[Noted]:
        """The record of a call with a key; `follow` runs it if the run hasn't followed one yet."""
        known = self._followed.get(key)
        if known is not None:
            return known
        form = _form_of(key)
        count = self._followed_alike.get(form, 0)
        if count == _MOST_ALIKE and form in self._followed:
            return self._followed[form]
        self._followed_alike[form] = min(count + 1, _MOST_ALIKE)
        known = self._followed[key] = self._followed[form] = Followed(given, *follow())
        return known

    def forget(self) -> None:
        """Clear the memo of this run."""
        self._followed.clear()
        self._followed_alike.clear()

    # -- what holds in all runs ------------------------------------------------------------------------------------

    def cut(self, depth: int) -> None:
        """Note that a call was not followed because of the `depth` outermost calls under way."""
        if self._limit is not None:
            self._limit = min(self._limit, depth)

    def call(self, function: FunctionRef, given: Arguments, follow: Callable[[], Atoms]) -> Atoms:
        """The result of a call, remembered for the project if its arguments are constants; `follow` runs it."""
        code = function_of(function.code)
        if code is None or function.frame is not None or not _is_constant(function.receiver, given):
            return follow()
        run = self._run
        made: list[Atoms] = []

        def summary() -> CallSummary | None:
            found, is_kept = self._summary(follow)
            made.append(found.atoms)
            return found if is_kept else None

        circumstances = run.loops > 0, *map(type, run.theories)
        words = _words_of(function, given, (run.objects.is_at_work, *run.asked.state()))
        if words is None:
            known = run.project.once(("call", circumstances, self.key(function, given)), summary)
        else:
            question = "call of constants", code, circumstances, words
            known = _summary_of(run.project.once(question, lambda: _parts_of(summary()), kept=_KEPT))
        if made:
            return made[0]
        if known is None:
            return follow()
        run.calls.done |= known.done
        run.steps += known.steps
        return known.atoms

    def _summary(self, follow: Callable[[], Atoms]) -> tuple[CallSummary, bool]:
        """The summary of a call, and True if it holds in every run."""
        run, calls = self._run, self._run.calls
        limit, self._limit = self._limit, len(calls.under_way)
        done, calls.done = calls.done, set()
        was_complete, run.is_complete = run.is_complete, True
        shells, steps = len(run.shells()), run.steps
        atoms = follow()
        found = CallSummary(atoms, frozenset(calls.done), run.steps - steps)
        is_kept = run.is_complete and self._limit == len(calls.under_way) and all(map(_is_value, atoms))
        is_kept = is_kept and not any(map(_matters, islice(run.shells(), shells, None)))
        self._limit = self._limit if limit is None else min(limit, self._limit)
        run.is_complete = was_complete and run.is_complete
        calls.done = done | calls.done
        return found, is_kept


def _turns_around(frame: Frame | None) -> tuple[Trail, ...]:
    """The turns of loops that a nested function is called in, which its names from around it may differ by."""
    return () if frame is None else (frame.trail, *_turns_around(frame.parent))


def _words_of(function: FunctionRef, given: Arguments, state: tuple[Hashable, ...]) -> str | None:
    """The arguments of a call and the state of its run in words; None if they cannot be told so."""
    if function.receiver is not None or function.arguments != NO_ARGUMENTS:
        return None
    found: list[str] = [str(function.above), str(given.is_complete)]
    for part in state:
        if part is not None and type(part) not in _TOLD:
            return None
        found.append(repr(part))
    for name, atoms in (*(("", one) for one in given.positional), *given.keywords.items()):
        words = [_word_of(atom) for atom in atoms]
        if None in words:
            return None
        found.append(f"{name}={' or '.join(filter(None, words))}")
    return ", ".join(found)


def _word_of(atom: Atom) -> str | None:
    if isinstance(atom, Constant):
        return repr(atom.value) if atom.value is None or type(atom.value) in _TOLD else None
    if type(atom) is Plain:
        return f"plain {atom.device}"
    return "unknown" if atom == Unknown() else f"outside {atom.name}" if type(atom) is Outside else None


def _parts_of(summary: CallSummary | None) -> tuple[Any, ...]:
    """A summary in plain parts, with the kind of each atom and its value or device; empty for None."""
    if summary is None:
        return ()
    atoms = ((type(atom).__name__, getattr(atom, "value", getattr(atom, "device", ""))) for atom in summary.atoms)
    return tuple(atoms), summary.done, summary.steps


def _summary_of(parts: tuple[Any, ...]) -> CallSummary | None:
    """The summary that has these parts; None if they are those of none."""
    try:
        atoms, done, steps = parts
        found = tuple([_atom_of(*one) for one in atoms])
    except (TypeError, ValueError):
        return None
    is_sound = type(done) is frozenset and type(steps) is int and all(isinstance(one, Function) for one in done)
    return CallSummary(found, done, steps) if is_sound else None


def _atom_of(kind: str, value: object) -> Atom:
    """A constant of a value, a plain atom of a device, or an unknown one. Raises TypeError or ValueError for others."""
    if kind == "Constant":
        hash(value)
        return Constant(value)
    if kind == "Plain" and isinstance(value, str):
        return Plain(device=value)
    if kind == "Unknown":
        return Unknown()
    raise ValueError(f"no atom: {kind} {value!r}")


def _form_of(key: Hashable) -> Hashable:
    """A key in which all containers, and all objects that are no layers, of one expression are equal."""
    if isinstance(key, Shell):
        return key if key.value is None or _matters(key) else (key.kind, key.model, id(key.value))
    if type(key) is tuple:
        return tuple(map(_form_of, key))
    return frozenset(map(_form_of, key)) if type(key) is frozenset else key


def _is_constant(receiver: Atom | None, given: Arguments) -> bool:
    if receiver is not None and not _holds_nothing(receiver):
        return False
    return all(_holds_nothing(atom) for atoms in given.all() for atom in atoms)


def _holds_nothing(atom: Atom) -> bool:
    if isinstance(atom, ClassRef):
        return not any(atom.arguments.all())
    return isinstance(atom, Outside) or _is_value(atom)


def _is_value(atom: Atom) -> bool:
    return isinstance(atom, Constant) or type(atom) is Plain or atom == Unknown()


def _matters(shell: Shell) -> bool:
    return shell.is_layer or shell.kind in TENSORS


def keys_in(given: Arguments) -> set[Hashable]:
    """The keys of all elements of tensors among arguments."""
    return {element.key for values in given.all() for t in tensors_held(values) for element in t.elements()}


def replaced_reals(before: Arguments, now: Arguments) -> dict[Site, Real]:
    """A map from the origins of real numbers in one call's arguments to those in another call's."""
    reals = [[t.real for values in given.all() for t in tensors_in(values) if t.real] for given in (before, now)]
    return {one.origin: other for one, other in zip(*reals, strict=False)}


def of_caller(element: Element, moved: dict[Site, Real]) -> Element:
    """An element of a remembered call in terms of the current call's arguments."""
    if not isinstance(element, Real) or element.origin not in moved:
        return element
    return replace(element, origin=moved[element.origin].origin)


def given_by(atom: Atom, call: Site, keys: set[Hashable], moved: dict[Site, Real]) -> Atom:
    """An atom of a remembered result for the current call: its own draws of ids become draws of this call."""
    if not isinstance(atom, Tensor):
        return atom
    if atom.real is not None and atom.real.origin in moved:
        atom = replace(atom, real=of_caller(atom.real, moved))  # type: ignore[arg-type]
    if atom.ids is not None and atom.ids.key not in keys:
        return replace(atom, ids=replace(atom.ids, way=call))
    return atom


def _shape_of(given: Arguments, alike: tuple[type, ...]) -> Hashable:
    """A key of arguments in which atoms of the kinds `alike` are equal."""
    positional = tuple(_told_apart(atoms, alike) for atoms in given.positional)
    keywords = tuple((name, _told_apart(atoms, alike)) for name, atoms in given.keywords.items())
    return positional, keywords, given.is_complete


def _told_apart(atoms: Atoms, alike: tuple[type, ...]) -> Hashable:
    if len(atoms) == 1 and not isinstance(atoms[0], (Shell, *alike)):
        return atoms
    return tuple(dict.fromkeys(_parts(atoms, alike)))


def _parts(atoms: Atoms, alike: tuple[type, ...]) -> Iterator[Hashable]:
    for atom in atoms:
        if isinstance(atom, alike):
            yield None
        else:
            yield atom
            if isinstance(atom, Shell) and atom.is_container:
                yield frozenset(_parts(tuple(atom.contents()), alike))
