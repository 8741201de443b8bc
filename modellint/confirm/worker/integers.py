"""Telling real numbers that code makes from those that were made up as its inputs, by integers in their place."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .specs import Spec
    from .watch import Watch

#: So many ways to put integers in the place of real numbers are tried.
MAX_CHOICES = 31
#: What complains of integers where real numbers are needed.
_TYPES = re.compile(r"type|[Ll]ong|[Ff]loat|integ")


def with_integers(specs: Mapping[str, Spec]) -> Iterator[dict[str, Spec]]:
    """The same inputs with integers in the place of real numbers that were made up: the most of them come first."""
    names = [name for name, spec in specs.items() if spec.is_made_up_real]
    for number in range(len(names), 0, -1):
        for chosen in itertools.combinations(names, number):
            yield {**specs, **{name: specs[name].whole() for name in chosen}}


def is_made_by_code(
    specs: Mapping[str, Spec],
    fails: Callable[[Watch], bool],
    run: Callable[[dict[str, Spec]], tuple[Watch, Exception | None]],
) -> bool:
    """Whether a lookup that fails does so for what the code does, and not for real numbers that were made up.

    With integers in their place it has to fail in the same way, or the code has to refuse those for their type.
    """
    for number, integers in enumerate(with_integers(specs)):
        watch, error = run(integers)
        if number >= MAX_CHOICES or not (fails(watch) or (not watch.seen and is_about_types(error))):
            return False
    return True


def is_real(watch: Watch) -> bool:
    """Whether real numbers were looked up that are no input as it was given."""
    return watch.is_not_ids and not watch.is_input


def is_outside(watch: Watch) -> bool:
    """Whether ids without a row were looked up that are no input as it was given."""
    return watch.is_outside and not watch.is_input


def is_about_types(error: Exception | None) -> bool:
    """Whether a complaint is one about the types of numbers."""
    return error is not None and _TYPES.search(str(error)) is not None
