"""The interface of the engine for rules: queries about one file, and the types of their answers.

`queries.flow(module, project)` answers, and its results are kept until the file has been checked. Answers hold for
every way in which a value gets to its place: through variables, branches, calls, containers, attributes, configurations
and files. Numbers count as torch does: rows of a table, positions from 0. An unknown answer is None, and lists leave
out unknown items.

Rules import this package and nothing else of the engine. Importing it costs nothing: a name is imported when the first
rule asks for it.

Begin with `answers.py`; `calls.py`, `values.py` and `tables.py` have the queries that rules ask most.
It imports `edits/`, `finding.py`, `flow/`, `flow/shapes/`, `graph/`, `knowledge/`, `lazy.py`, `link/`, `link/calls/`,
`link/classes/`, `link/values/`, `operators/`, `source.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.queries.names import QUERIES as QUERIES
from modellint.lazy import lazily

if TYPE_CHECKING:
    from modellint.flow.constructed import Constructed as Constructed
    from modellint.flow.domain import ANY_ARGUMENTS as ANY_ARGUMENTS
    from modellint.flow.domain import NONE as NONE
    from modellint.flow.domain import Arguments as Arguments
    from modellint.flow.domain import Atom as Atom
    from modellint.flow.domain import Atoms as Atoms
    from modellint.flow.domain import Bound as Bound
    from modellint.flow.domain import Constant as Constant
    from modellint.flow.domain import Counter as Counter
    from modellint.flow.domain import Derived as Derived
    from modellint.flow.domain import Element as Element
    from modellint.flow.domain import Filler as Filler
    from modellint.flow.domain import FunctionRef as FunctionRef
    from modellint.flow.domain import Ids as Ids
    from modellint.flow.domain import Length as Length
    from modellint.flow.domain import Number as Number
    from modellint.flow.domain import Outside as Outside
    from modellint.flow.domain import Plain as Plain
    from modellint.flow.domain import Real as Real
    from modellint.flow.domain import Shape as Shape
    from modellint.flow.domain import Site as Site
    from modellint.flow.domain import SymbolicInput as SymbolicInput
    from modellint.flow.domain import Tensor as Tensor
    from modellint.flow.domain import Unknown as Unknown
    from modellint.flow.domain import constant as constant
    from modellint.flow.domain import function_of as function_of
    from modellint.flow.domain import has_property as has_property
    from modellint.flow.domain import join as join
    from modellint.flow.domain import size_of as size_of
    from modellint.flow.frame import Frame as Frame
    from modellint.flow.heap import TENSORS as TENSORS
    from modellint.flow.heap import Path as Path
    from modellint.flow.heap import Shell as Shell
    from modellint.flow.heap import Store as Store
    from modellint.flow.heap import Trail as Trail
    from modellint.flow.heap import are_exclusive as are_exclusive
    from modellint.flow.heap import opened as opened
    from modellint.flow.heap import tensors_in as tensors_in
    from modellint.flow.interp import Interpreter as Interpreter
    from modellint.flow.kept_devices import KeptDevice as KeptDevice
    from modellint.flow.kept_devices import kept_device as kept_device
    from modellint.flow.late_layers import Step as Step
    from modellint.flow.length_terms import FunctionTables as FunctionTables
    from modellint.flow.length_terms import LengthKind as LengthKind
    from modellint.flow.length_terms import PickedRows as PickedRows
    from modellint.flow.length_terms import SizedTable as SizedTable
    from modellint.flow.length_terms import Term as Term
    from modellint.flow.length_terms import terms_in as terms_in
    from modellint.flow.lookup_records import IdLayer as IdLayer
    from modellint.flow.lookup_records import Lookup as Lookup
    from modellint.flow.lookup_records import LossLookup as LossLookup
    from modellint.flow.lookup_records import OwnLookup as OwnLookup
    from modellint.flow.lookup_records import PaddedPositions as PaddedPositions
    from modellint.flow.lookups import FEW as FEW
    from modellint.flow.lookups import Lookups as Lookups
    from modellint.flow.object_run import covers as covers
    from modellint.flow.objects import AttributeRead as AttributeRead
    from modellint.flow.operation import Operation as Operation
    from modellint.flow.properties import OperatorCall as OperatorCall
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
    from modellint.flow.queries.files import is_apart as is_apart
    from modellint.flow.queries.files import is_generator_source as is_generator_source
    from modellint.flow.queries.files import is_mentioned_elsewhere as is_mentioned_elsewhere
    from modellint.flow.queries.files import is_searchable as is_searchable
    from modellint.flow.queries.files import is_shadowed as is_shadowed
    from modellint.flow.queries.files import is_trial as is_trial
    from modellint.flow.queries.files import is_trial_site as is_trial_site
    from modellint.flow.queries.files import neighbours as neighbours
    from modellint.flow.queries.files import paths_mentioning as paths_mentioning
    from modellint.flow.queries.files import paths_with_suffix as paths_with_suffix
    from modellint.flow.queries.files import program_folder as program_folder
    from modellint.flow.queries.files import project_root as project_root
    from modellint.flow.queries.functions import is_new_tensor as is_new_tensor
    from modellint.flow.queries.functions import is_plain_parameter as is_plain_parameter
    from modellint.flow.queries.functions import outcome as outcome
    from modellint.flow.queries.late import LateLayer as LateLayer
    from modellint.flow.queries.late import may_make_layers as may_make_layers
    from modellint.flow.queries.late import reached_on_object as reached_on_object
    from modellint.flow.queries.layers import calls_of_objects as calls_of_objects
    from modellint.flow.queries.layers import elements as elements
    from modellint.flow.queries.layers import gives_values as gives_values
    from modellint.flow.queries.layers import has_keywords as has_keywords
    from modellint.flow.queries.layers import is_doubtful as is_doubtful
    from modellint.flow.queries.layers import is_method_named as is_method_named
    from modellint.flow.queries.layers import is_set_besides as is_set_besides
    from modellint.flow.queries.layers import is_set_outside as is_set_outside
    from modellint.flow.queries.layers import lacks_forward as lacks_forward
    from modellint.flow.queries.layers import made_objects as made_objects
    from modellint.flow.queries.layers import may_have as may_have
    from modellint.flow.queries.layers import mode_changes as mode_changes
    from modellint.flow.queries.layers import stored_values as stored_values
    from modellint.flow.queries.loaded import LoadedFile as LoadedFile
    from modellint.flow.queries.loaded import LoadedState as LoadedState
    from modellint.flow.queries.loaded import Sized as Sized
    from modellint.flow.queries.loaded import foreign_names as foreign_names
    from modellint.flow.queries.loaded import is_left_alone as is_left_alone
    from modellint.flow.queries.loaded import loaded_files as loaded_files
    from modellint.flow.queries.loaded import loaded_states as loaded_states
    from modellint.flow.queries.loaded import missing_children as missing_children
    from modellint.flow.queries.loaded import path_from as path_from
    from modellint.flow.queries.loaded import path_of as path_of
    from modellint.flow.queries.loaded import sized_layers as sized_layers
    from modellint.flow.queries.modes import Key as Key
    from modellint.flow.queries.modes import ModeCourse as ModeCourse
    from modellint.flow.queries.modes import ModeObject as ModeObject
    from modellint.flow.queries.modes import acts_by_mode as acts_by_mode
    from modellint.flow.queries.modes import classes_inside as classes_inside
    from modellint.flow.queries.modes import classes_made as classes_made
    from modellint.flow.queries.modes import functions_above as functions_above
    from modellint.flow.queries.modes import is_quiet as is_quiet
    from modellint.flow.queries.modes import learns_from as learns_from
    from modellint.flow.queries.modes import leaves_modes_alone as leaves_modes_alone
    from modellint.flow.queries.modes import mode_courses as mode_courses
    from modellint.flow.queries.modes import runs_parts as runs_parts
    from modellint.flow.queries.runs import Run as Run
    from modellint.flow.queries.runs import run as run
    from modellint.flow.queries.saved import ChangedTensor as ChangedTensor
    from modellint.flow.queries.saved import tensors_changed as tensors_changed
    from modellint.flow.queries.shapes import Made as Made
    from modellint.flow.queries.shapes import RefusedOperation as RefusedOperation
    from modellint.flow.queries.shapes import doubtful_operations as doubtful_operations
    from modellint.flow.queries.shapes import is_computed_setting as is_computed_setting
    from modellint.flow.queries.shapes import losses_without_gradient as losses_without_gradient
    from modellint.flow.queries.shapes import refused_operations as refused_operations
    from modellint.flow.queries.shapes import strange_elements as strange_elements
    from modellint.flow.queries.shapes import tables_apart as tables_apart
    from modellint.flow.queries.tables import PaddedTable as PaddedTable
    from modellint.flow.queries.torch_calls import TorchMismatch as TorchMismatch
    from modellint.flow.queries.torch_calls import may_use_newest_torch as may_use_newest_torch
    from modellint.flow.queries.torch_calls import newest_torch as newest_torch
    from modellint.flow.queries.torch_calls import torch_mismatch as torch_mismatch
    from modellint.flow.queries.torch_calls import torch_parameters as torch_parameters
    from modellint.flow.queries.torch_calls import torch_signature as torch_signature
    from modellint.flow.queries.torch_calls import torch_slots as torch_slots
    from modellint.flow.queries.training import Act as Act
    from modellint.flow.queries.training import Action as Action
    from modellint.flow.queries.training import Course as Course
    from modellint.flow.queries.training import Turn as Turn
    from modellint.flow.queries.training import courses as courses
    from modellint.flow.queries.training import hands_over as hands_over
    from modellint.flow.queries.training import made_names as made_names
    from modellint.flow.queries.training import optimizers as optimizers
    from modellint.flow.queries.training import scalers as scalers
    from modellint.flow.queries.training import schedulers as schedulers
    from modellint.flow.queries.training import trained_layers as trained_layers
    from modellint.flow.queries.training import warns_of_early_schedules as warns_of_early_schedules
    from modellint.flow.queries.values import Kind as Kind
    from modellint.flow.queries.values import Operand as Operand
    from modellint.flow.queries.values import constant_arguments as constant_arguments
    from modellint.flow.queries.values import is_possible as is_possible
    from modellint.flow.queries.values import returns as returns
    from modellint.flow.sinks import Sink as Sink
    from modellint.flow.table_reads import LengthComparison as LengthComparison
    from modellint.flow.table_reads import TableRead as TableRead
    from modellint.flow.table_reads import TableReads as TableReads
    from modellint.flow.tensor_devices import Encounter as Encounter
    from modellint.flow.tensor_devices import Fresh as Fresh
    from modellint.flow.tensor_devices import Meeting as Meeting
    from modellint.flow.tensor_devices import Moved as Moved
    from modellint.flow.tensor_devices import There as There
    from modellint.flow.tensors import Refinement as Refinement
    from modellint.flow.tensors import Tensors as Tensors
    from modellint.flow.theory import Mode as Mode
    from modellint.flow.theory import Theory as Theory
    from modellint.graph.arguments import Misfit as Misfit
    from modellint.knowledge import SHARED_TABLE as SHARED_TABLE
    from modellint.knowledge import TIED_WEIGHTS as TIED_WEIGHTS
    from modellint.knowledge.surface import all_names as all_names
    from modellint.knowledge.surface import gone_names as gone_names
    from modellint.knowledge.surface import has_module as has_module
    from modellint.knowledge.surface import module_names as module_names
    from modellint.knowledge.surface import optimizer_names as optimizer_names
    from modellint.knowledge.surface import removed_tensor_names as removed_tensor_names
    from modellint.knowledge.surface import takes_tensor as takes_tensor
    from modellint.knowledge.surface import tensor_names as tensor_names
    from modellint.knowledge.surface import wrapper_members as wrapper_members
    from modellint.link.calls.named import named_function as named_function
    from modellint.link.calls.overloads import Refusal as Refusal
    from modellint.link.calls.reached import Reached as Reached
    from modellint.link.classes.attributes import AttributeMentions as AttributeMentions
    from modellint.link.classes.calls import ADDERS as ADDERS
    from modellint.link.classes.calls import REGISTRARS as REGISTRARS
    from modellint.link.classes.learned import Learned as Learned
    from modellint.link.classes.models import ClassModel as ClassModel
    from modellint.link.classes.object_runs import FinishedObject as FinishedObject
    from modellint.link.classes.registered import Unregistered as Unregistered
    from modellint.link.remembered import Form as Form
else:
    __getattr__ = lazily(
        __name__,
        {
            "modellint.flow.constructed": "Constructed",
            "modellint.flow.domain": (
                "ANY_ARGUMENTS Arguments Atom Atoms Bound Constant Counter Derived Element Filler FunctionRef "
                "Ids Length NONE Number Outside Plain Real Shape Site SymbolicInput Tensor Unknown constant "
                "function_of has_property join size_of"
            ),
            "modellint.flow.frame": "Frame",
            "modellint.flow.heap": "Path Shell Store TENSORS Trail are_exclusive opened tensors_in",
            "modellint.flow.interp": "Interpreter",
            "modellint.flow.kept_devices": "KeptDevice kept_device",
            "modellint.flow.late_layers": "Step",
            "modellint.flow.length_terms": "FunctionTables LengthKind PickedRows SizedTable Term terms_in",
            "modellint.flow.lookup_records": "IdLayer Lookup LossLookup OwnLookup PaddedPositions",
            "modellint.flow.lookups": "FEW Lookups",
            "modellint.flow.object_run": "covers",
            "modellint.flow.objects": "AttributeRead",
            "modellint.flow.operation": "Operation",
            "modellint.flow.properties": "OperatorCall",
            "modellint.flow.queries.answers": "Queries flow",
            "modellint.flow.queries.as_tensors": (
                "TensorUse counts layer_takes_tensor number_of_values several tensor_uses"
            ),
            "modellint.flow.queries.calls": "Argument Call",
            "modellint.flow.queries.classes": (
                "Escapes Family call_effects escapes family is_attribute_read is_layer layer_members mentions "
                "owners_read owners_set subclasses"
            ),
            "modellint.flow.queries.files": (
                "files_mentioning is_apart is_generator_source is_mentioned_elsewhere is_searchable is_shadowed "
                "is_trial is_trial_site neighbours paths_mentioning paths_with_suffix program_folder project_root"
            ),
            "modellint.flow.queries.functions": "is_new_tensor is_plain_parameter outcome",
            "modellint.flow.queries.late": "LateLayer may_make_layers reached_on_object",
            "modellint.flow.queries.layers": (
                "calls_of_objects elements gives_values has_keywords is_doubtful is_method_named is_set_besides "
                "is_set_outside lacks_forward made_objects may_have mode_changes stored_values"
            ),
            "modellint.flow.queries.loaded": (
                "LoadedFile LoadedState Sized foreign_names is_left_alone loaded_files loaded_states "
                "missing_children path_from path_of sized_layers"
            ),
            "modellint.flow.queries.modes": (
                "Key ModeCourse ModeObject acts_by_mode classes_inside classes_made functions_above is_quiet "
                "learns_from leaves_modes_alone mode_courses runs_parts"
            ),
            "modellint.flow.queries.runs": "Run run",
            "modellint.flow.queries.saved": "ChangedTensor tensors_changed",
            "modellint.flow.queries.shapes": (
                "Made RefusedOperation doubtful_operations is_computed_setting losses_without_gradient "
                "refused_operations strange_elements tables_apart"
            ),
            "modellint.flow.queries.tables": "PaddedTable",
            "modellint.flow.queries.torch_calls": (
                "TorchMismatch may_use_newest_torch newest_torch torch_mismatch torch_parameters torch_signature "
                "torch_slots"
            ),
            "modellint.flow.queries.training": (
                "Act Action Course Turn courses hands_over made_names optimizers scalers schedulers trained_layers "
                "warns_of_early_schedules"
            ),
            "modellint.flow.queries.values": "Kind Operand constant_arguments is_possible returns",
            "modellint.flow.sinks": "Sink",
            "modellint.flow.table_reads": "LengthComparison TableRead TableReads",
            "modellint.flow.tensor_devices": "Encounter Fresh Meeting Moved There",
            "modellint.flow.tensors": "Refinement Tensors",
            "modellint.flow.theory": "Mode Theory",
            "modellint.graph.arguments": "Misfit",
            "modellint.knowledge": "SHARED_TABLE TIED_WEIGHTS",
            "modellint.knowledge.surface": (
                "all_names gone_names has_module module_names optimizer_names removed_tensor_names takes_tensor "
                "tensor_names wrapper_members"
            ),
            "modellint.link.calls.named": "named_function",
            "modellint.link.calls.overloads": "Refusal",
            "modellint.link.calls.reached": "Reached",
            "modellint.link.classes.attributes": "AttributeMentions",
            "modellint.link.classes.calls": "ADDERS REGISTRARS",
            "modellint.link.classes.learned": "Learned",
            "modellint.link.classes.models": "ClassModel",
            "modellint.link.classes.object_runs": "FinishedObject",
            "modellint.link.classes.registered": "Unregistered",
            "modellint.link.remembered": "Form",
        },
    )
