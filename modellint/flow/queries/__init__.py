"""The interface of the engine for rules: queries about one file, and the types of their answers.

`queries.flow(module, project)` answers, and its results are kept until the file has been checked. Answers hold for
every way in which a value gets to its place: through variables, branches, calls, containers, attributes, configurations
and files. Numbers count as torch does: rows of a table, positions from 0. An unknown answer is None, and lists leave
out unknown items.

Rules import this package and nothing else of the engine. Importing it costs nothing: a name is imported when the first
rule asks for it.

Begin with `answers.py`.
It imports `edits/`, `finding.py`, `flow/`, `graph/`, `knowledge/`, `lazy.py`, `link/`, `link/calls/`, `link/classes/`,
`link/values/`, `operators/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.queries.names import QUERIES as QUERIES
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
    from modellint.flow.heap import Store as Store
    from modellint.flow.lookup_records import Lookup as Lookup
    from modellint.flow.queries.answers import Queries as Queries
    from modellint.flow.queries.answers import flow as flow
    from modellint.flow.queries.as_tensors import TensorUse as TensorUse
    from modellint.flow.queries.as_tensors import counts as counts
    from modellint.flow.queries.as_tensors import layer_takes_tensor as layer_takes_tensor
    from modellint.flow.queries.as_tensors import number_of_values as number_of_values
    from modellint.flow.queries.as_tensors import several as several
    from modellint.flow.queries.as_tensors import tensor_uses as tensor_uses
    from modellint.flow.queries.calls import Argument as Argument
    from modellint.flow.queries.calls import Call as Call
    from modellint.flow.queries.objects import calls_of_objects as calls_of_objects
    from modellint.flow.queries.objects import elements as elements
    from modellint.flow.queries.objects import gives_values as gives_values
    from modellint.flow.queries.objects import is_doubtful as is_doubtful
    from modellint.flow.queries.objects import is_method_named as is_method_named
    from modellint.flow.queries.objects import is_set_besides as is_set_besides
    from modellint.flow.queries.objects import is_set_outside as is_set_outside
    from modellint.flow.queries.objects import lacks_forward as lacks_forward
    from modellint.flow.queries.objects import made_objects as made_objects
    from modellint.flow.queries.objects import mode_changes as mode_changes
    from modellint.flow.queries.objects import stored_values as stored_values
    from modellint.flow.queries.values import Kind as Kind
    from modellint.flow.queries.values import Operand as Operand
    from modellint.flow.queries.values import returns as returns
    from modellint.flow.truth import truth_with as truth_with
    from modellint.knowledge.surface import layer_members as layer_members
    from modellint.knowledge.surface import module_names as module_names
    from modellint.knowledge.surface import removed_tensor_names as removed_tensor_names
    from modellint.knowledge.surface import takes_tensor as takes_tensor
    from modellint.knowledge.surface import tensor_names as tensor_names
    from modellint.link.calls.doubts import subclasses as subclasses
    from modellint.link.calls.reached import Reached as Reached
    from modellint.link.classes.signatures import Misfit as Misfit
else:
    __getattr__ = lazily(
        __name__,
        {
            "modellint.flow.domain": "ANY_ARGUMENTS Arguments Constant Filler Ids Real Site Tensor",
            "modellint.flow.heap": "Store",
            "modellint.flow.lookup_records": "Lookup",
            "modellint.flow.queries.answers": "Queries flow",
            "modellint.flow.queries.calls": "Argument Call",
            "modellint.flow.queries.as_tensors": (
                "TensorUse counts layer_takes_tensor number_of_values several tensor_uses"
            ),
            "modellint.flow.queries.objects": (
                "calls_of_objects elements gives_values is_doubtful is_method_named is_set_besides is_set_outside "
                "lacks_forward made_objects mode_changes stored_values"
            ),
            "modellint.flow.queries.values": "Kind Operand returns",
            "modellint.flow.truth": "truth_with",
            "modellint.knowledge.surface": "layer_members module_names removed_tensor_names takes_tensor tensor_names",
            "modellint.link.calls.doubts": "subclasses",
            "modellint.link.calls.reached": "Reached",
            "modellint.link.classes.signatures": "Misfit",
        },
    )
