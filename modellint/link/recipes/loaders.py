"""The loader of a file with HyperPyYAML's tags: other YAML loaders have a `!ref` of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.link.recipes.loading import LOADERS
from modellint.link.recipes.pairing import scripts_of
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

_LIBRARY = "speechbrain"
#: Words of projects that load recipes; and packages that other loaders are built with.
_WORDS = tuple(word.encode() for word in ("hyperpyyaml", *LOADERS))
_PARSERS = ("yaml", "ruamel")


def is_loaded_otherwise(recipe: Recipe, project: Project) -> bool:
    """True if a project reads YAML with a loader of its own, and never with HyperPyYAML.

    False for any recipe that names classes of SpeechBrain or that a script loads.
    """
    if any(node.tag.target.partition(".")[0] == _LIBRARY for node in recipe.nodes()):
        return False
    if scripts_of(recipe, project).scripts:
        return False
    return project.once(("other loader",), lambda: _reads_otherwise(project))


def _reads_otherwise(project: Project) -> bool:
    parsing = []
    for path in files_below(project, project.options.root, (".py", ".ipynb")):
        data = project.files.read(path) or b""
        if any(word in data for word in _WORDS):
            return False
        if any(parser.encode() in data for parser in _PARSERS):
            parsing.append(path)
    modules = filter(None, map(project.python, parsing))
    return any(origin.partition(".")[0] in _PARSERS for module in modules for origin in module.imports.values())
