"""The interface of the engine for rules: queries about one file, and the types of their answers.

`queries.flow(module, project)` answers, and its results are kept until the file has been checked. Answers hold for
every way in which a value gets to its place: through variables, branches, calls, containers, attributes, configurations
and files. Numbers count as torch does: rows of a table, positions from 0. An unknown answer is None, and lists leave
out unknown items.

Rules import this package and nothing else of the engine. Importing it costs nothing: a name is imported when the first
rule asks for it.

Begin with `answers.py`.
It imports `flow/`, `graph/`, `lazy.py`, `link/`, `link/classes/`, `link/values/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.lazy import lazily

if TYPE_CHECKING:
    from modellint.flow.domain import ANY_ARGUMENTS as ANY_ARGUMENTS
    from modellint.flow.domain import Arguments as Arguments
    from modellint.flow.domain import Constant as Constant
    from modellint.flow.domain import Filler as Filler
    from modellint.flow.domain import Ids as Ids
    from modellint.flow.domain import Real as Real
    from modellint.flow.domain import Site as Site
    from modellint.flow.domain import Tensor as Tensor
    from modellint.flow.domain import has_property as has_property
    from modellint.flow.heap import Store as Store
    from modellint.flow.lookup_records import Lookup as Lookup
    from modellint.flow.properties import OperatorCall as OperatorCall
    from modellint.flow.queries.answers import Queries as Queries
    from modellint.flow.queries.answers import flow as flow
else:
    __getattr__ = lazily(
        __name__,
        {
            "modellint.flow.domain": "ANY_ARGUMENTS Arguments Constant Filler Ids Real Site Tensor has_property",
            "modellint.flow.heap": "Store",
            "modellint.flow.lookup_records": "Lookup",
            "modellint.flow.properties": "OperatorCall",
            "modellint.flow.queries.answers": "Queries flow",
        },
    )
