"""The first stage of look-ups says of no function that it looks nothing up where a run of it does.

Every function of some packages of the ledger is run, and what that finds is found from the functions, too, that the
first stage would have run. `MODELLINT_LEDGER=all` tries all files of these packages, otherwise a sixth takes its turn.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from incremental.circumstances import has_turn
from ledger import read
from packages import fetched, needs_packages

from modellint.flow.domain import Filler, Positions
from modellint.flow.lookups import Lookups
from modellint.flow.runs import follow, tensor_run
from modellint.flow.summaries import Summaries
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from pathlib import Path

    from modellint.flow.lookup_records import Lookup
    from modellint.graph.python import Function, ModuleFacts

#: Packages of more lines than these take minutes: all functions of them are run.
MOST_LINES = 30_000
IS_WHOLE = os.environ.get("MODELLINT_LEDGER") == "all"
SMALL = [package for package in read() if package["lines"] <= MOST_LINES]


def found(functions: Iterable[Function], project: Project) -> dict[Hashable, Lookup]:
    """What functions look up, each run with anything."""
    run, lookups = tensor_run(project, Lookups)
    objects: dict[Any, Any] = {}
    for function in functions:
        follow(function, objects, run)
    places = {(one.place, one.table, one.element): one for one in lookups.found.values()}
    run.close()
    return places


def is_asked_for(lookup: Lookup, module: ModuleFacts) -> bool:
    """Whether some rule asks for a look-up; the first row is in every table, and positions are only padded."""
    element = lookup.element
    if isinstance(element, Positions) or (isinstance(element, Filler) and element.size.number == 0):
        return False
    return lookup.place.module is module  # others are found where their own file is checked


@needs_packages
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("package", SMALL, ids=lambda package: f"{package['name']}-{package['version']}")
def test_the_first_stage_leaves_nothing_out(package: dict[str, Any]) -> None:
    root: Path = fetched(package["name"], package["version"])
    project = Project(ProjectOptions(root=root))
    for path in sorted(root.rglob("*.py")):
        is_tried = IS_WHOLE or has_turn(path.relative_to(root).as_posix(), 6)
        module = project.python(path) if is_tried else None
        if module is not None:
            everything = found((*module.all_functions(), module.body), project)
            first = found(project.of(Summaries).roots(module), project)
            left_out = [one.place.place for key, one in everything.items() if key not in first]
            wanted = [one.place.place for key, one in everything.items() if is_asked_for(one, module)]
            assert not [place for place in left_out if place in wanted], path
