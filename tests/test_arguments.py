"""Arguments are bound to parameters as Python binds them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.frontends.python import read
from modellint.graph.arguments import Misfit, bind, bind_call
from modellint.graph.value import EventKind
from modellint.source import SourceFile

if TYPE_CHECKING:
    from modellint.graph.arguments import Bound
    from modellint.graph.value import Value

PLAIN = "def f(x, y=0, *, flag): ..."
OPEN = "def f(x, *rest, flag=True, **options): ..."


def bound(head: str, call: str) -> Bound[Value]:
    source = SourceFile(Path("m.py"), f"{head}\n\ndef use(a, b, c):\n    {call}\n")
    module = read(source, lambda path: False)
    (event,) = module.functions["use"].flow.of(EventKind.CALL)
    return bind_call(module.functions["f"].open_parameters, event.value)


@pytest.mark.parametrize(
    ("call", "misfits"),
    [
        ("f(a, flag=b)", []),
        ("f(a, b, c, flag=b)", [Misfit(most=2)]),
        ("f(a, flag=b, mask=c)", [Misfit(unknown="mask")]),
        ("f(a, x=b, flag=c)", [Misfit(doubled="x")]),
        ("f()", [Misfit(missing=("x", "flag"))]),
        ("f(*a)", []),
        ("f(**a)", []),
        ("f(*a, b, b, c, flag=b)", [Misfit(most=2)]),
    ],
)
def test_says_what_does_not_fit(call: str, misfits: list[Misfit]) -> None:
    assert bound(PLAIN, call).misfits == misfits


def test_keeps_what_other_parameters_do_not_take() -> None:
    found = bound(OPEN, "f(a, b, c, flag=b, mask=c)")
    assert [value.data for value in found.rest] == ["b", "c"]
    assert {name: value.data for name, value in found.options.items()} == {"mask": "c"}
    assert {name: value.data for name, value in found.given.items()} == {"x": "a", "flag": "b"}
    assert found.misfits == []


def test_knows_no_parameter_of_arguments_behind_a_star() -> None:
    assert list(bound(PLAIN, "f(a, *b, flag=c)").certain) == ["x", "flag"]


def test_binds_nothing_of_a_call_that_has_too_many_arguments() -> None:
    found = bound(PLAIN, "f(a, b, c)")
    assert (list(found.given), found.certain) == (["x", "y"], {})
    assert bind(found.parameters, (1, 2), {"flag": 3}).certain == {"x": 1, "y": 2, "flag": 3}
