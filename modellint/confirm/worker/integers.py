"""Replace made-up real inputs by integers, to tell whether a real index was made by the code or by these inputs."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .specs import Spec
    from .watch import Watch

#: The number of ways to replace real numbers by integers that are tried.
MAX_CHOICES = 31
#: Complaints about integers where real numbers are needed.
_TYPES = re.compile(r"type|[Ll]ong|[Ff]loat|integ")


def with_integers(specs: Mapping[str, Spec]) -> Iterator[dict[str, Spec]]:
    """The same inputs with made-up real numbers replaced by integers: in most places first."""
    names = [name for name, spec in specs.items() if spec.is_made_up_real]
    for number in range(len(names), 0, -1):
        for chosen in itertools.combinations(names, number):
            yield {**specs, **{name: specs[name].whole() for name in chosen}}


def is_made_by_code(
    specs: Mapping[str, Spec],
    fails: Callable[[Watch], bool],
    run: Callable[[dict[str, Spec]], tuple[Watch, Exception | None]],
) -> bool:
    """True if a look-up fails because of the code, and not because of made-up real inputs.

    With integers in their place it has to fail in the same way, or the code has to refuse those for their type.
    """
    for number, integers in enumerate(with_integers(specs)):
        watch, error = run(integers)
        if number >= MAX_CHOICES or not (fails(watch) or (not watch.seen and is_about_types(error))):
            return False
    return True


def is_real(watch: Watch) -> bool:
    """True if real numbers were used as an index that are no input passed on unchanged."""
    return watch.is_not_ids and not watch.is_input


def is_outside(watch: Watch) -> bool:
    """True if ids out of range were looked up that are no input passed on unchanged."""
    return watch.is_outside and not watch.is_input


def is_about_types(error: Exception | None) -> bool:
    """True if an error complains about the types of numbers."""
    return error is not None and _TYPES.search(str(error)) is not None
