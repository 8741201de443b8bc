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
    from modellint.flow.domain import NONE as NONE
    from modellint.flow.domain import Arguments as Arguments
    from modellint.flow.domain import Atom as Atom
    from modellint.flow.domain import Constant as Constant
    from modellint.flow.domain import Derived as Derived
    from modellint.flow.domain import Filler as Filler
    from modellint.flow.domain import Ids as Ids
    from modellint.flow.domain import Plain as Plain
    from modellint.flow.domain import Real as Real
    from modellint.flow.domain import Site as Site
    from modellint.flow.domain import Tensor as Tensor
    from modellint.flow.heap import Shell as Shell
    from modellint.flow.heap import Store as Store
    from modellint.flow.heap import are_exclusive as are_exclusive
    from modellint.flow.heap import opened as opened
    from modellint.flow.late_layers import Step as Step
    from modellint.flow.lookup_records import Lookup as Lookup
    from modellint.flow.object_run import covers as covers
    from modellint.flow.objects import AttributeRead as AttributeRead
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
    from modellint.flow.queries.classes import Escapes as Escapes
    from modellint.flow.queries.classes import Family as Family
    from modellint.flow.queries.classes import call_effects as call_effects
    from modellint.flow.queries.classes import escapes as escapes
    from modellint.flow.queries.classes import family as family
    from modellint.flow.queries.classes import is_attribute_read as is_attribute_read
    from modellint.flow.queries.classes import is_layer as is_layer
    from modellint.flow.queries.classes import layer_members as layer_members
    from modellint.flow.queries.classes import mentions as mentions
    from modellint.flow.queries.classes import owners_read as owners_read
    from modellint.flow.queries.classes import owners_set as owners_set
    from modellint.flow.queries.classes import subclasses as subclasses
    from modellint.flow.queries.files import files_mentioning as files_mentioning
    from modellint.flow.queries.files import is_generator_source as is_generator_source
    from modellint.flow.queries.files import is_mentioned_elsewhere as is_mentioned_elsewhere
    from modellint.flow.queries.files import is_searchable as is_searchable
    from modellint.flow.queries.files import is_shadowed as is_shadowed
    from modellint.flow.queries.files import is_trial as is_trial
    from modellint.flow.queries.files import neighbours as neighbours
    from modellint.flow.queries.files import paths_mentioning as paths_mentioning
    from modellint.flow.queries.files import paths_with_suffix as paths_with_suffix
    from modellint.flow.queries.files import project_root as project_root
    from modellint.flow.queries.functions import is_new_tensor as is_new_tensor
    from modellint.flow.queries.functions import is_plain_parameter as is_plain_parameter
    from modellint.flow.queries.functions import outcome as outcome
    from modellint.flow.queries.late import LateLayer as LateLayer
    from modellint.flow.queries.late import may_make_layers as may_make_layers
    from modellint.flow.queries.late import reached_on_object as reached_on_object
    from modellint.flow.queries.values import Kind as Kind
    from modellint.flow.queries.values import Operand as Operand
    from modellint.flow.queries.values import returns as returns
    from modellint.flow.tensor_devices import Encounter as Encounter
    from modellint.flow.tensor_devices import Fresh as Fresh
    from modellint.flow.tensor_devices import Meeting as Meeting
    from modellint.flow.tensor_devices import Moved as Moved
    from modellint.flow.tensor_devices import There as There
    from modellint.graph.python import Misfit as Misfit
    from modellint.knowledge.surface import module_names as module_names
    from modellint.knowledge.surface import removed_tensor_names as removed_tensor_names
    from modellint.knowledge.surface import takes_tensor as takes_tensor
    from modellint.knowledge.surface import tensor_names as tensor_names
    from modellint.link.calls.reached import Reached as Reached
    from modellint.link.classes.attributes import AttributeMentions as AttributeMentions
    from modellint.link.classes.learned import Learned as Learned
    from modellint.link.classes.models import ClassModel as ClassModel
    from modellint.link.classes.object_runs import FinishedObject as FinishedObject
    from modellint.link.classes.registered import Unregistered as Unregistered
else:
    __getattr__ = lazily(
        __name__,
        {
            "modellint.flow.domain": (
                "ANY_ARGUMENTS NONE Arguments Atom Constant Derived Filler Ids Plain Real Site Tensor"
            ),
            "modellint.flow.heap": "Shell Store are_exclusive opened",
            "modellint.flow.late_layers": "Step",
            "modellint.flow.lookup_records": "Lookup",
            "modellint.flow.object_run": "covers",
            "modellint.flow.objects": "AttributeRead",
            "modellint.flow.queries.answers": "Queries flow",
            "modellint.flow.queries.classes": (
                "Escapes Family call_effects escapes family is_attribute_read is_layer layer_members mentions "
                "owners_read owners_set subclasses"
            ),
            "modellint.flow.queries.files": (
                "files_mentioning is_generator_source is_mentioned_elsewhere is_searchable is_shadowed is_trial "
                "neighbours paths_mentioning paths_with_suffix project_root"
            ),
            "modellint.flow.queries.functions": "is_new_tensor is_plain_parameter outcome",
            "modellint.flow.queries.late": "LateLayer may_make_layers reached_on_object",
            "modellint.flow.tensor_devices": "Encounter Fresh Meeting Moved There",
            "modellint.link.classes.attributes": "AttributeMentions",
            "modellint.link.classes.learned": "Learned",
            "modellint.link.classes.models": "ClassModel",
            "modellint.link.classes.object_runs": "FinishedObject",
            "modellint.link.classes.registered": "Unregistered",
            "modellint.flow.queries.calls": "Argument Call",
            "modellint.flow.queries.as_tensors": (
                "TensorUse counts layer_takes_tensor number_of_values several tensor_uses"
            ),
            "modellint.flow.queries.values": "Kind Operand returns",
            "modellint.knowledge.surface": "module_names removed_tensor_names takes_tensor tensor_names",
            "modellint.link.calls.reached": "Reached",
            "modellint.graph.python": "Misfit",
        },
    )
