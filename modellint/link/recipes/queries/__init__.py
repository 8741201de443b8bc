"""The interface of recipes for rules: queries about one recipe or one script, and the types of their answers.

`queries.about(recipe, project)` answers questions about a recipe, `queries.script(module, project)` those about a
Python file that may load recipes. A recipe may be included in others: answers about its objects hold in each recipe
that is loaded with it (`wholes`), and are about the objects that its own file defines. Nothing is run: an object whose
class or value is unknown is None, or UNKNOWN among kinds, and an answer is certain only if its facet says so.

Rules import this package and nothing else about recipes. Importing it costs nothing: a name is imported when the first
rule asks for it.

Begin with `answers.py`.
It imports `dialects/`, `dialects/lightning_cli/`, `graph/`, `lazy.py`, `link/`, `link/classes/`, `link/recipes/`,
`source.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.lazy import lazily
from modellint.link.recipes.queries.names import RECIPE_QUERIES as RECIPE_QUERIES

if TYPE_CHECKING:
    from modellint.dialects.defaults import Refusal as Refusal
    from modellint.dialects.description import Description as Description
    from modellint.dialects.lightning_cli.faults import Fault as Fault
    from modellint.dialects.lightning_cli.faults import FaultKind as FaultKind
    from modellint.dialects.lightning_cli.links import UnmetLink as UnmetLink
    from modellint.dialects.lightning_cli.loading import Loaded as Loaded
    from modellint.dialects.openmmlab_reading import UnmetKey as UnmetKey
    from modellint.dialects.unpacked import UnpackedCall as UnpackedCall
    from modellint.dialects.uses import MissingKey as MissingKey
    from modellint.graph.arguments import Misfit as Misfit
    from modellint.link.classes.signatures import Parameters as Parameters
    from modellint.link.recipes.brain_members import ForeignMember as ForeignMember
    from modellint.link.recipes.brain_members import foreign_members as foreign_members
    from modellint.link.recipes.closures import Root as Root
    from modellint.link.recipes.interfaces import Unmet as Unmet
    from modellint.link.recipes.items import Evaluation as Evaluation
    from modellint.link.recipes.items import Item as Item
    from modellint.link.recipes.items import ItemKind as ItemKind
    from modellint.link.recipes.items import Problem as Problem
    from modellint.link.recipes.items import ProblemKind as ProblemKind
    from modellint.link.recipes.lacking import Lacking as Lacking
    from modellint.link.recipes.lacking import Missing as Missing
    from modellint.link.recipes.overview import Registration as Registration
    from modellint.link.recipes.queries.answers import FoundProblem as FoundProblem
    from modellint.link.recipes.queries.answers import Queries as Queries
    from modellint.link.recipes.queries.answers import about as about
    from modellint.link.recipes.queries.scripts import ScriptQueries as ScriptQueries
    from modellint.link.recipes.queries.scripts import script as script
    from modellint.link.recipes.reach import ItemUse as ItemUse
    from modellint.link.recipes.reach import Reach as Reach
    from modellint.link.recipes.registration import Omission as Omission
    from modellint.link.recipes.saved import Saved as Saved
    from modellint.link.recipes.scripts import BrainUse as BrainUse
    from modellint.link.recipes.shortfalls import Shortfall as Shortfall
    from modellint.link.recipes.targets import ResolvedName as ResolvedName
    from modellint.link.recipes.targets import TaggedItem as TaggedItem
    from modellint.link.recipes.targets import TargetKind as TargetKind
    from modellint.link.recipes.training_steps import JudgedCall as JudgedCall
    from modellint.link.recipes.vocabularies import Search as Search
    from modellint.link.recipes.vocabularies import Sized as Sized
    from modellint.link.recipes.widths import RefusedNumber as RefusedNumber
else:
    __getattr__ = lazily(
        __name__,
        {
            ".answers": "FoundProblem Queries about",
            ".scripts": "ScriptQueries script",
            "modellint.dialects.defaults": "Refusal",
            "modellint.dialects.description": "Description",
            "modellint.dialects.unpacked": "UnpackedCall",
            "modellint.dialects.uses": "MissingKey",
            "modellint.dialects.lightning_cli.faults": "Fault FaultKind",
            "modellint.dialects.lightning_cli.links": "UnmetLink",
            "modellint.dialects.lightning_cli.loading": "Loaded",
            "modellint.dialects.openmmlab_reading": "UnmetKey",
            "modellint.graph.arguments": "Misfit",
            "modellint.link.classes.signatures": "Parameters",
            "modellint.link.recipes.brain_members": "ForeignMember foreign_members",
            "modellint.link.recipes.closures": "Root",
            "modellint.link.recipes.interfaces": "Unmet",
            "modellint.link.recipes.items": "Evaluation Item ItemKind Problem ProblemKind",
            "modellint.link.recipes.lacking": "Lacking Missing",
            "modellint.link.recipes.overview": "Registration",
            "modellint.link.recipes.reach": "ItemUse Reach",
            "modellint.link.recipes.registration": "Omission",
            "modellint.link.recipes.saved": "Saved",
            "modellint.link.recipes.scripts": "BrainUse",
            "modellint.link.recipes.shortfalls": "Shortfall",
            "modellint.link.recipes.targets": "ResolvedName TaggedItem TargetKind",
            "modellint.link.recipes.training_steps": "JudgedCall",
            "modellint.link.recipes.vocabularies": "Search Sized",
            "modellint.link.recipes.widths": "RefusedNumber",
        },
    )
