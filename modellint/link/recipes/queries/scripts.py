"""The queries about one Python file that may load recipes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind
from modellint.link.recipes.loading import callee_name
from modellint.link.recipes.pairing import recipes_of
from modellint.link.recipes.scripts import own_events, script_functions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.dialects.apps import App
    from modellint.dialects.lightning_cli.links import UnmetLink
    from modellint.dialects.openmmlab_reading import UnmetKey
    from modellint.dialects.uses import MissingKey
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.lacking import Missing


class ScriptQueries:
    """The queries about one Python file. A file that loads no recipe has empty answers."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes whose only script is this file, by path."""
        return recipes_of(self._module.file, self._project)

    @property
    def unmet_programs(self) -> list[App]:
        """The programs of Hydra in the file whose folder of configurations, or whose primary one, is not there."""
        if not self._module.imports_of("hydra", "nemo"):
            return []
        from modellint.dialects.apps import apps_in, lacks_primary

        found = apps_in(self._module, self._project)
        return [one for one in found if one.written or lacks_primary(one, self._project)]

    @property
    def missing_config_keys(self) -> Iterator[MissingKey]:
        """The keys that the programs in the file read for certain, and that their configurations lack."""
        if not self._module.imports_of("hydra", "nemo", "omegaconf", "torchtune"):
            return iter(())
        from modellint.dialects.uses import missing_keys

        return missing_keys(self._module, self._project)

    @property
    def unmet_links(self) -> tuple[UnmetLink, ...]:
        """The keys of `link_arguments` in the programs of the file that their parsers lack."""
        from modellint.dialects.lightning_cli.links import unmet_links

        return unmet_links(self._module, self._project)

    @property
    def unmet_config_keys(self) -> Iterator[UnmetKey]:
        """The keys that the file certainly reads of a configuration of OpenMMLab, and that each such one lacks."""
        if "fromfile" not in self._module.text:
            return iter(())
        from modellint.dialects.openmmlab_reading import unmet_keys

        return unmet_keys(self._module, self._project)

    @property
    def interface_recipes(self) -> tuple[Recipe, ...]:
        """The recipes of published models in the folder of a file that defines the class which loads them."""
        from modellint.link.recipes.interfaces import recipes_beside

        return recipes_beside(self._module, self._project) if self._module.classes else ()

    @property
    def callees(self) -> frozenset[str]:
        """The functions that the file calls outside of classes, as they are written: `torch.manual_seed`."""
        events = (event for function in script_functions(self._module) for event in own_events(function))
        names = (callee_name(event.value.callee) for event in events if event.kind is EventKind.CALL)
        return frozenset(name for name in names if name is not None)

    @property
    def missing_keys(self) -> Collection[Missing]:
        """The keys that the file reads or overrides, `hparams["lr"]`, and one of its recipes lacks."""
        if not self.recipes:
            return ()
        from modellint.link.recipes.lacking import missing_keys

        return missing_keys(self._module, self._project)

    @property
    def missing_modules(self) -> Collection[Missing]:
        """The entries of `self.modules` that the file uses, and `modules` of one of its recipes lacks."""
        if not self.recipes:
            return ()
        from modellint.link.recipes.lacking import missing_modules

        return missing_modules(self._module, self._project)


def script(module: ModuleFacts, project: Project) -> ScriptQueries:
    """The queries about a Python file: `queries.script(module, project).recipes`."""
    return ScriptQueries(module, project)
