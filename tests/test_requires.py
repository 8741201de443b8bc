"""Rules ask the queries that they require, and no others."""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

import modellint
from modellint.examples import materialise
from modellint.flow.queries import QUERIES, Queries
from modellint.link.recipes import queries as recipes
from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = load_rules()


def asking_rule(depth: int = 2) -> str:
    """The folder of the rule that asks a query itself; empty if the engine or another query asks it."""
    name = str(sys._getframe(depth).f_globals["__name__"])
    return name.split(".")[1] if name.startswith("modellint_rules.ml") else ""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The queries that rules ask, by the folder of the rule."""
    found: dict[str, set[str]] = defaultdict(set)

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watch(self: Any, *args: Any, **options: Any) -> Any:
            found[asking_rule()].add(name)
            return function(self, *args, **options)

        return watch

    for kind in (*Queries.__mro__, *recipes.Queries.__mro__, *recipes.ScriptQueries.__mro__):
        for name, member in list(vars(kind).items()):
            if name.startswith("_") or kind is object:
                continue
            if isinstance(member, property):
                assert member.fget is not None
                monkeypatch.setattr(kind, name, property(watched(name, member.fget)))
            elif isinstance(member, cached_property):
                monkeypatch.setattr(kind, name, property(watched(name, member.func)))
            elif callable(member):
                monkeypatch.setattr(kind, name, watched(name, member))
    return found


@pytest.mark.dear
@pytest.mark.parametrize("code", RULES)
def test_a_rule_asks_what_it_requires(code: str, asked: dict[str, set[str]], tmp_path: Path) -> None:
    rule = RULES[code]
    for number, example in enumerate((*rule.bad[:2], *rule.good[:1])):
        materialise(example.files, tmp_path / str(number))
        modellint.check([tmp_path / str(number)], select=[code], isolated=True, jobs=1)
    folder = type(rule).__module__.partition(".")[2].partition(".")[0]
    assert asked[folder] <= {*rule.requires}


def test_the_names_of_queries_are_those_that_there_are() -> None:
    def public(*kinds: type) -> list[str]:
        return sorted({name for kind in kinds for name in dir(kind) if not name.startswith("_")})

    assert list(QUERIES) == public(Queries)
    assert list(recipes.RECIPE_QUERIES) == public(recipes.Queries, recipes.ScriptQueries)
