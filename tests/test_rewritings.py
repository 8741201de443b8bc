"""The same mistake, said in another way, gets the same answer.

Each bad example is rewritten in many ways that keep its meaning, and is found again; each good one stays silent. What
is not yet so stands in `rewriting/exceptions.json`, which may only become shorter: a mended exception fails here.
`MODELLINT_REWRITINGS=all` tries everything, `MODELLINT_REWRITINGS=turn`, as CI has it, all examples of rules that
changed and a third of the others, another one with each commit; by default it is other layouts and other styles of
YAML, each with a thirty-second of the examples.
"""

from __future__ import annotations

import ast
import os
import zlib
from typing import TYPE_CHECKING

import pytest
from incremental.circumstances import has_turn
from incremental.store import Store
from rewriting import exceptions, trials
from rewriting.catalogue import REWRITINGS
from rewriting.kept import Judged, Texts
from rewriting.marks import unmarked
from rewriting.meaning import SUFFIXES, is_loaded_alike, written
from rewriting.rewriting import Kind, Rewriting

if TYPE_CHECKING:
    from collections.abc import Mapping

CASES = list(trials.cases())
EXCEPTIONS = exceptions.load()
NAMES = [rewriting.name for rewriting in REWRITINGS]
EXTENT = os.environ.get("MODELLINT_REWRITINGS", "few")
IS_WHOLE = EXTENT == "all"
TRIED = [rewriting for rewriting in REWRITINGS if EXTENT != "few" or rewriting.kind in (Kind.LAYOUT, Kind.RECIPE)]


def cases_for(rewriting: Rewriting, judged: Judged) -> list[trials.Case]:
    """The examples whose turn it is, but for those of rules that passed before."""

    def is_tried(case: trials.Case) -> bool:
        name = f"{rewriting.name} {case}"
        if EXTENT == "few":
            return zlib.crc32(name.encode()) % 32 == 0
        return IS_WHOLE or has_turn(name, 3) or judged.is_new(case.rule.code)

    return [case for case in CASES if is_tried(case) and not judged.passed(case.rule.code)]


@pytest.mark.dear
@pytest.mark.parametrize("rewriting", TRIED, ids=lambda rewriting: rewriting.name)
def test_what_is_said_in_another_way_gets_the_same_answer(rewriting: Rewriting) -> None:
    def says_the_same(case: trials.Case, rewritten: Mapping[str, str]) -> None:
        """It is code, with a mark for each mistake; if only its layout is another one, then the same code.

        A recipe has the same nodes in another style, or is made the same of by the library that loads it.
        """
        before, after = case.unmarked, unmarked(rewritten)
        assert after.places.keys() == before.places.keys(), case
        for path in after.files:
            if path.endswith(".py"):
                tree = ast.parse(after.files[path])
                if rewriting.kind is Kind.LAYOUT:
                    assert ast.dump(tree) == ast.dump(ast.parse(before.files[path])), (case, path)
            elif rewriting.kind is Kind.RECIPE and path.endswith(SUFFIXES):
                assert written(after.files[path]) == written(before.files[path]), (case, path)
        for path in before.files if rewriting.kind is Kind.RECIPE_MOVE else ():
            if path.endswith(SUFFIXES):
                assert is_loaded_alike(before.files, after.files, path), (case, path)

    store = Store.chosen()
    known, texts = EXCEPTIONS.get(rewriting.name, {}), Texts(rewriting, store)
    judged = Judged(rewriting, EXTENT, known, store)
    cases = cases_for(rewriting, judged)
    tried = trials.tried(rewriting, cases, says_the_same, texts)
    texts.save()
    assert exceptions.differences(known, tried) == []
    assert exceptions.forgotten(known, set(map(str, cases)), tried) == []
    is_all = IS_WHOLE and len(cases) == len(CASES)
    assert len(tried) >= 3 or not is_all, "a rewriting that nearly nothing can be rewritten by says nearly nothing"
    judged.save({case.rule.code for case in CASES})


def test_the_style_of_a_recipe_decides_at_most_which_of_several_places_is_told() -> None:
    styles = [rewriting.name for rewriting in REWRITINGS if rewriting.kind is Kind.RECIPE]
    reasons = {reason for name in styles for reason in EXCEPTIONS.get(name, {}).values()}
    assert all(reason.startswith("elsewhere: ") for reason in reasons)


def test_exceptions_speak_of_rewritings_and_examples_that_there_are() -> None:
    assert EXCEPTIONS.keys() <= set(NAMES)
    known = {case for reasons in EXCEPTIONS.values() for case in reasons}
    assert known <= set(map(str, CASES))


def test_each_rewriting_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES)
