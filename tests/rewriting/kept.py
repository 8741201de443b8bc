"""What the store keeps of rewritings: their texts, which are dear to make, and which of them passed for which rule."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from incremental import circumstances
from incremental.store import Store, key

from rewriting.catalogue import ROOMS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rewriting.rewriting import Rewriting
    from rewriting.trials import Case

#: What judges a rewritten example, besides the engine and the rule.
_JUDGES = (
    "tests/test_rewritings.py",
    "tests/rewriting/trials.py",
    "tests/rewriting/marks.py",
    "tests/rewriting/meaning.py",
)


class Texts:
    """The texts that a rewriting makes of examples; the store has those that the same code made of the same text."""

    def __init__(self, rewriting: Rewriting, store: Store | None = None) -> None:
        self._store, self._name = store, f"texts: {_source(rewriting)} {rewriting.name}"
        self._known: dict[str, Any] = (store.document(self._name) if store else None) or {}
        self._new: dict[str, Any] = {}

    def of(self, case: Case) -> tuple[dict[str, str] | None] | None:
        """What was made of an example (None if the rewriting does not apply), None if nothing is known of it."""
        found = self._known.get(_content(case), self)
        return None if found is self else (found,)

    def made(self, case: Case, rewritten: dict[str, str] | None) -> None:
        self._new[_content(case)] = rewritten

    def save(self) -> None:
        if self._store is not None and self._new:
            self._store.keep(self._name, {**self._known, **self._new})


class Judged:
    """The rules for whose examples a rewriting passed, with the engine and the rule as they are."""

    def __init__(
        self, rewriting: Rewriting, extent: str, reasons: Mapping[str, str], store: Store | None = None
    ) -> None:
        self._store, self._rewriting, self._reasons = store, rewriting, reasons
        self._extents = [extent] if extent == "all" else [extent, "all"]
        self._shelf = f"rewriting: {rewriting.name}"
        self._passed = store.passed(self._shelf) if store else frozenset()

    def passed(self, code: str) -> bool:
        """Whether all examples of a rule that take their turn need not be judged again."""
        return any(self._key(code, extent) in self._passed for extent in self._extents)

    def is_new(self, code: str) -> bool:
        """Whether a rule is another one than in the run before, so that all of its examples are judged."""
        if self._passed:
            return key("seen", circumstances.rule(code)) not in self._passed
        return code in circumstances.changed_rules()

    def save(self, codes: Collection[str]) -> None:
        """Note that the examples of some rules passed."""
        if self._store is not None:
            seen = [key("seen", circumstances.rule(code)) for code in codes]
            self._store.note(self._shelf, [*seen, *(self._key(code, self._extents[0]) for code in codes)])

    def _key(self, code: str, extent: str) -> str:
        reasons = sorted(f"{case}: {why}" for case, why in self._reasons.items() if case.startswith(code))
        rests_on = (circumstances.judge(code), _judges(), _source(self._rewriting))
        return key(extent, *rests_on, *reasons)


@cache
def _source(rewriting: Rewriting) -> str:
    """A digest of the code of a rewriting and of what runs it."""
    found = circumstances.repository()
    room = next(name for name, room in ROOMS.items() if rewriting in room)
    return key(circumstances.machine(), found.digest(found.closure(f"tests/rewriting/{room}.py"))) if found else ""


@cache
def _judges() -> str:
    found = circumstances.repository()
    return found.digest(_JUDGES) if found else ""


def _content(case: Case) -> str:
    return key(*(part for pair in sorted(case.marked.items()) for part in pair))
