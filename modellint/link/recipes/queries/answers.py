"""The queries about one recipe."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Protocol, TypeVar

from modellint.graph.definitions import DefinedClass
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, NodeKind, TagKind, below
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ItemKind
from modellint.link.recipes.pairing import includers_of, including, is_inference, scripts_of, upwards

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from modellint.dialects.defaults import Refusal
    from modellint.dialects.description import Description
    from modellint.dialects.lightning_cli.faults import Fault, FaultKind
    from modellint.dialects.lightning_cli.loading import Loaded
    from modellint.dialects.reading import Instantiation
    from modellint.dialects.unpacked import UnpackedCall
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.recipe import Node, Recipe, Scalar
    from modellint.graph.size import Size
    from modellint.link.project import Project
    from modellint.link.recipes.interfaces import Unmet
    from modellint.link.recipes.items import Evaluation, Item, Problem, ProblemKind
    from modellint.link.recipes.lacking import Missing
    from modellint.link.recipes.overview import Registration
    from modellint.link.recipes.pairing import Pairing
    from modellint.link.recipes.registration import Omission
    from modellint.link.recipes.shortfalls import Shortfall
    from modellint.link.recipes.targets import ResolvedName, TaggedItem
    from modellint.link.recipes.training_steps import JudgedCall
    from modellint.link.recipes.vocabularies import Search, Sized
    from modellint.link.recipes.widths import RefusedNumber
    from modellint.link.requirements import Required
    from modellint.source import Place


class Placed(Protocol):
    """A fact about a place in a recipe."""

    @property
    def place(self) -> Place: ...


Fact = TypeVar("Fact", bound=Placed)


@dataclass(frozen=True, slots=True)
class FoundProblem:
    """A problem of a whole recipe. `is_loaded`: a script or an interface is known to load it."""

    recipe: Recipe
    problem: Problem
    is_loaded: bool

    @property
    def place(self) -> Place:
        return self.problem.place


class Queries:
    """The queries about one recipe. Its objects are `Item`s: `evaluation.objects`, or by key `evaluation.keys["lr"]`.

    Rules ask each file by itself, so the file may be a fragment of a recipe: `wholes` are the recipes that are loaded.
    """

    def __init__(self, recipe: Recipe, project: Project) -> None:
        self.recipe = recipe
        self._project = project

    # -- the files around it -----------------------------------------------------------------------------------

    @property
    def pairing(self) -> Pairing:
        """The `scripts` that may load the recipe, with the `reason`; none for plain configurations.

        Several if nothing decides between them: then only facts that are true of each are certain.
        """
        return scripts_of(self.recipe, self._project)

    @property
    def script(self) -> ModuleFacts | None:
        """The only script that may load the recipe; None without one, or with several."""
        scripts = self.pairing.scripts
        return self._project.python(scripts[0]) if len(scripts) == 1 else None

    @property
    def is_inference(self) -> bool:
        """True if it describes a trained model to load: it has `modules` and a pretrainer of its own."""
        return is_inference(self.recipe)

    def wholes(self) -> Iterator[Queries]:
        """The recipes that are loaded with this one in them: itself, or else those that include it."""
        return (Queries(whole, self._project) for whole in including(self.recipe, self._project))

    def within_wholes(self, find: Callable[[Recipe, Project], Iterable[Fact]]) -> Iterator[Fact]:
        """The facts that `find` tells of each recipe that is loaded with this one in it, those placed in this file.

        Facts placed in other included files are told, too, if this recipe is loaded itself.
        """
        for whole in including(self.recipe, self._project):
            for fact in find(whole, self._project):
                if whole is self.recipe or fact.place.path == self.recipe.path:
                    yield fact

    def folders(self) -> Iterator[Path]:
        """The folder of the recipe and some folders above it, the nearest first, not beyond the project's root."""
        return upwards(self.recipe.file, self._project)

    # -- its text and its objects ------------------------------------------------------------------------------

    @property
    def evaluation(self) -> Evaluation:
        """The objects that HyperPyYAML would make of it: `evaluation.keys["encoder"].fields["width"].number`."""
        return evaluate(self.recipe, self._project)

    def problems(self, *kinds: ProblemKind) -> Iterator[FoundProblem]:
        """The problems of some kinds that loading it, or a recipe that includes it, has with its text."""
        return self.within_wholes(lambda whole, project: _problems(whole, project, kinds))

    def live_nodes(self) -> Iterator[Node]:
        """The nodes of its text, those left out that every including recipe overrides."""
        replaced = self._overridden_keys()
        live = [entry for entry in self.recipe.root.entries if entry.name not in replaced]
        return below(*(node for entry in live for node in (entry.key, entry.value)))

    def _overridden_keys(self) -> frozenset[Scalar]:
        """The top-level keys that every recipe which includes it overrides."""
        found = (self._project.recipe(path) for path in includers_of(self.recipe, self._project))
        groups = [
            frozenset(node.items())
            for includer in found
            if includer is not None
            for node in includer.nodes()
            if node.tag.kind is TagKind.INCLUDE and includer.included(node) == self.recipe.file
        ]
        return frozenset.intersection(*groups) if groups else frozenset()

    @property
    def dialect(self) -> Description:
        """The dialect of the file: how it writes an object, and the effects of mistakes in it."""
        from modellint.dialects.description import describe

        return describe(self.recipe.dialect)

    @property
    def is_composed(self) -> bool:
        """True if a program of Hydra is known to compose this file, alone or with others."""
        if self.recipe.dialect is Dialect.OPENMMLAB:
            return False
        from modellint.dialects.placing import composed_with

        return composed_with(self.recipe.file, self._project) is not None

    @property
    def refuses_repeated(self) -> bool:
        """True if the loader of the file is known to refuse a key that stands twice."""
        from modellint.dialects.latent import is_loaded_strictly

        if self.recipe.dialect is Dialect.LATENT:
            return is_loaded_strictly(self._project)
        return bool(self.dialect.repeated) and (not self.dialect.is_composed or self.is_composed)

    def registering_files(self, words: Collection[str]) -> Iterator[Path]:
        """The Python files of the project that mention one of some words, by which they register constructors."""
        files, root = self._project.files, self._project.options.root
        return iter(dict.fromkeys(path for word in words for path in files.mentioning(root, word)))

    @property
    def command(self) -> tuple[str, str, tuple[str, ...], str] | None:
        """The folder, name and arguments by which Hydra composes this file, and the program; None if none does."""
        if self.recipe.dialect is Dialect.OPENMMLAB:
            return None
        from modellint.dialects.placing import composed_with

        composed = composed_with(self.recipe.file, self._project)
        app = None if composed is None else composed.app
        if composed is None or app is None or app.folder is None or app.name is None:
            return None
        return app.folder.as_posix(), app.name, composed.composition.arguments, app.script.as_posix()

    def refusals(self) -> list[Refusal]:
        """The entries in this file of a defaults list or of `_base_`, and the keys, for which its loader refuses it."""
        if self.recipe.dialect is Dialect.OPENMMLAB:
            from modellint.dialects.openmmlab import refusals_of

            return list(refusals_of(self.recipe, self._project))
        from modellint.dialects.placing import composed_with

        composed = composed_with(self.recipe.file, self._project)
        return [] if composed is None else list(composed.composition.refusals_in(self.recipe.file))

    def instantiation(self, item: Item) -> Instantiation | None:
        """The call of `instantiate`, or of a registry, that builds an object; None if none is known to."""
        if self.recipe.dialect is Dialect.OPENMMLAB:
            from modellint.dialects.openmmlab_types import construction

            return construction(item, self.recipe, self._project)
        from modellint.dialects.uses import instantiation_of

        return instantiation_of(item, self.recipe, self._project)

    def is_given_by_choosers(self, names: Collection[str], item: Item) -> bool:
        """True if Hydra composes this file only where others choose it, and each of them gives these arguments."""
        from modellint.dialects.uses import is_given_by_choosers

        is_hydra = self.recipe.dialect is Dialect.OMEGACONF
        return is_hydra and is_given_by_choosers(names, item, self.recipe, self._project)

    def faults(self, *kinds: FaultKind) -> list[Fault]:
        """The mistakes of some kinds for which jsonargparse refuses the file; none in files of other dialects."""
        from modellint.dialects.lightning_cli.refusing import faults_of

        is_typed = self.dialect.is_typed
        return [fault for fault in faults_of(self.recipe, self._project) if fault.kind in kinds] if is_typed else []

    @property
    def loaders(self) -> tuple[Loaded, ...]:
        """The programs of jsonargparse that load the file, each with the `reason` for which it is taken to."""
        from modellint.dialects.lightning_cli.loading import loaded_by

        return loaded_by(self.recipe, self._project) if self.dialect.is_typed else ()

    @property
    def untyped_mappings(self) -> Iterator[tuple[Item, str]]:
        """The mappings without a `type` that a class certainly builds by a registry, with the name of the class."""
        if self.recipe.dialect is not Dialect.OPENMMLAB:
            return iter(())
        from modellint.dialects.openmmlab_types import untyped_mappings

        return untyped_mappings(self.recipe, self._project)

    def is_taken_out(self, name: str, item: Item) -> bool:
        """True if an argument of an object may be taken out before a registry builds the object of the rest."""
        if self.recipe.dialect is not Dialect.OPENMMLAB:
            return False
        from modellint.dialects.openmmlab_types import is_taken_out

        return is_taken_out(name, item, self.recipe, self._project)

    # -- classes of objects ------------------------------------------------------------------------------------

    def arguments(self, item: Item) -> Iterator[tuple[str | None, Item]]:
        """The arguments of an object with the names of their parameters; None for one whose name is unknown."""
        from modellint.link.recipes.moved import layers_of

        return layers_of(self._project).arguments(item)

    def holds(self, owner: Item, item: Item) -> bool:
        """True if an object certainly registers another one as a layer or is it: `ModuleList([encoder])`."""
        from modellint.link.recipes.moved import layers_of

        return layers_of(self._project).holds(owner, item)

    def changes_state(self, item: Item, *methods: str) -> bool:
        """True if one of these methods changes what a checkpoint of the object holds: `step` of a scheduler."""
        from modellint.link.recipes.moved import layers_of

        model = layers_of(self._project).model(item)
        constants = {str(name): one.value for name, one in item.fields.items() if one.kind is ItemKind.CONSTANT}
        return model is not None and any(model.changes_state(name, constants) for name in methods)

    def tags(self, *, by_argument: bool = False) -> Iterator[TaggedItem]:
        """The objects whose tags name a class, function or module, each with the `target` of that name.

        In latent-diffusion style, those that something is known to build. With `by_argument`, also the objects that
        another file names, and that get arguments in this one.
        """
        if self.recipe.dialect is Dialect.OPENMMLAB:
            from modellint.dialects.openmmlab_types import registered_items

            return registered_items(self.recipe, self._project, by_argument=by_argument)
        from modellint.link.recipes.targets import tagged_items

        found = tagged_items(self.recipe, self._project, by_argument=by_argument)
        if self.recipe.dialect is not Dialect.LATENT:
            return found
        return (one for one in found if self.instantiation(one.item) is not None)

    def untargeted_mappings(self) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
        """The mappings that something builds and that name no class: the place of each, its path, and its keys."""
        if self.recipe.dialect is Dialect.LATENT:
            from modellint.dialects.latent import untargeted_in

            for spot in untargeted_in(self.recipe, self._project):
                if spot.key is not None:
                    yield self.recipe.place(spot.key.span), spot.path, tuple(map(str, spot.names))

    def misspelt_targets(self) -> Iterator[tuple[Place, str]]:
        """The keys of mappings that name no class, each a slip of the key that would, as in `_traget_: nets.Net`."""
        target = self.recipe.dialect.writing.target
        if not self.dialect.is_plain or not target.startswith("_"):
            return
        from modellint.link.recipes.targets import is_slip

        for node in self.recipe.nodes():
            if node.kind is NodeKind.MAPPING and node.get(target) is None:
                keys = (entry.key for entry in node.entries if is_slip(entry.key.text, target))
                yield from ((self.recipe.place(key.span), key.text) for key in keys)

    def unpacked_calls(self) -> Iterator[UnpackedCall]:
        """The calls in programs and constructors that get a mapping of the file by `**`, and fail by its entries."""
        if not self.dialect.is_plain:
            return iter(())
        from modellint.dialects.unpacked import unpacked_calls

        return unpacked_calls(self.recipe, self._project)

    def constructor(self, cls: Class) -> ResolvedName:
        """A class of the project as the target of a tag, with the `signatures` of its constructor."""
        from modellint.link.recipes.targets import resolve_definition

        return resolve_definition(DefinedClass(cls), self._project)

    def requirement(self, package: str) -> Required | None:
        """The releases of a package that the project asks for; None if no file does."""
        from modellint.link.requirements import required

        return required(package, self._project)

    def is_for_earlier(self, package: str) -> bool:
        """True if only releases of a package before the described ones have the names in the recipe, by a guess.

        False if the project asks for particular releases.
        """
        from modellint.link.recipes.eras import is_for_earlier

        return is_for_earlier(self.recipe, package, self._project)

    # -- layers in a training ----------------------------------------------------------------------------------

    def registrations(self, script: ModuleFacts | None = None) -> Iterable[Registration]:
        """The training by each Brain of each script, or of `script`: it tells what moves, trains and saves a layer.

        An inference recipe has one without `reach`.
        """
        from modellint.link.recipes.overview import registrations_of, registrations_under

        if script is None:
            return registrations_of(self.recipe, self._project)
        return registrations_under(self.recipe, script.file, self._project)

    def omitted_layers(self) -> Iterator[Omission]:
        """The layers in use that stay on the CPU, since `modules` does not hold them."""
        from modellint.link.recipes.registration import omitted_layers

        return self.within_wholes(omitted_layers)

    def unsaved_layers(self) -> Iterator[Shortfall]:
        """The layers that are trained and that no checkpoint holds."""
        from modellint.link.recipes.shortfalls import unsaved_layers

        return self.within_wholes(unsaved_layers)

    def untrained_layers(self) -> Iterator[Shortfall]:
        """The layers that get gradients in training and that no optimizer holds."""
        from modellint.link.recipes.shortfalls import untrained_layers

        return self.within_wholes(untrained_layers)

    # -- names that code asks for ------------------------------------------------------------------------------

    def missing_keys(self) -> list[Missing]:
        """The keys that its only script reads or overrides, `hparams["lr"]`, and that it lacks."""
        from modellint.link.recipes.lacking import missing_keys

        return self._missing(missing_keys)

    def missing_modules(self) -> list[Missing]:
        """The entries of `self.modules` that its only script uses, and that `modules` lacks."""
        from modellint.link.recipes.lacking import missing_modules

        return self._missing(missing_modules)

    def _missing(self, find: Callable[[ModuleFacts, Project], Iterable[Missing]]) -> list[Missing]:
        script = self.script
        found = () if script is None else find(script, self._project)
        return [one for one in found if any(recipe.recipe.file == self.recipe.file for recipe in one.candidates)]

    def unmet_keys(self) -> Collection[Unmet]:
        """The keys that the class which loads a published model needs, and that its recipe lacks."""
        from modellint.link.recipes.interfaces import unmet_keys

        return unmet_keys(self.recipe, self._project)

    def unmet_modules(self) -> Collection[Unmet]:
        """The entries of `modules` that the class which loads a published model needs, and that are missing."""
        from modellint.link.recipes.interfaces import unmet_modules

        return unmet_modules(self.recipe, self._project)

    # -- widths ------------------------------------------------------------------------------------------------

    def refused_numbers(self) -> Iterator[RefusedNumber]:
        """The operations of layers that torch refuses for the numbers that the recipe gives, and not for all."""
        from modellint.link.recipes.widths import refused_numbers

        for one in self.within_wholes(refused_numbers):
            if one.made is None or self._is_made_as_written(one.made):
                yield one

    def made_objects(self) -> Iterator[tuple[Item, Class]]:
        """The objects in this file that something makes of the arguments that are written, with classes of the project.

        None of a configuration of OpenMMLab that others inherit: they may change its numbers.
        """
        from modellint.link.recipes.moved import layers_of
        from modellint.link.recipes.widths import own_objects

        layers = layers_of(self._project)
        for item in own_objects(self.recipe, self._project):
            model = layers.model(item)
            cls = None if model is None else model.cls
            if cls is not None and not item.elements and self._is_made_as_written(item):
                yield item, cls

    def written_size(self, size: Size, item: Item, constructor: Function) -> int | None:
        """A size with the arguments of an object in place of the constructor's parameters; None if one is unknown."""
        own, total = f"{constructor.module.path}:{constructor.qualname}", 0.0
        for symbols, factor in size.terms:
            numbers: list[float] = []
            for symbol in symbols:
                given = item.fields.get(symbol.name)
                number = symbol.default if given is None else given.number
                if symbol.owner != own or number is None:
                    return None
                numbers.append(number)
            total += factor * prod(numbers)
        return int(total) if total == int(total) else None

    @staticmethod
    def written_numbers(item: Item) -> tuple[tuple[str, int], ...]:
        """The arguments of an object, if all of them are whole numbers by name; else none."""
        found = {str(name): one.value for name, one in item.fields.items() if one.kind is ItemKind.CONSTANT}
        numbers = tuple((name, value) for name, value in found.items() if type(value) is int)
        return numbers if len(numbers) == len(item.fields) and not item.elements else ()

    @staticmethod
    def size_place(size: Size, item: Item) -> Place:
        """The argument of an object that a size depends on, or else the object."""
        names = [symbol.name for symbol in size.symbols if symbol.name in item.fields]
        entry = item.recipe.argument(item.node, names[0]) if len(names) == 1 else None
        if entry is None:
            return item.place
        home = item.fields[names[0]].recipe if item.fields[names[0]].key is entry.key else item.recipe
        return home.place(entry.key.span)

    def _is_made_as_written(self, item: Item) -> bool:
        """True if something builds an object of the arguments that are written, and of no others by the same names."""
        if self.recipe.dialect is Dialect.HYPERPYYAML:
            return True
        if self.dialect.is_typed:
            return bool(self.loaders)
        found = self.instantiation(item)
        names = frozenset(map(str, item.fields))
        return found is not None and not found.positional and names.isdisjoint(found.keywords | found.changed)

    def strange_elements(self) -> Iterator[JudgedCall]:
        """The calls in a training step of losses and activations whose operand holds elements that they do not take."""
        from modellint.link.recipes.training_steps import judged_calls

        for one in self.within_wholes(judged_calls):
            if one.refused.is_strange and one.place != one.refused.site.place:
                yield one

    # -- vocabularies ------------------------------------------------------------------------------------------

    def searches(self) -> Iterator[Search]:
        """The searchers, each with the `head` that draws ids and the `table` that looks them up, with `number`s of ids.

        Either is None if its size is unknown.
        """
        from modellint.link.recipes.vocabularies import searches

        return searches(self.recipe, self._project)

    def disagreements(self) -> Iterator[tuple[Search, Sized, Sized]]:
        """The searchers whose scorers, or whose tokenizer, have another number of ids than their head."""
        from modellint.link.recipes.vocabularies import disagreements

        return disagreements(self.recipe, self._project)


def _problems(whole: Recipe, project: Project, kinds: Collection[ProblemKind]) -> Iterator[FoundProblem]:
    is_loaded = whole.dialect is Dialect.OPENMMLAB or bool(scripts_of(whole, project).scripts) or is_inference(whole)
    for problem in evaluate(whole, project).problems:
        if problem.kind in kinds:
            yield FoundProblem(whole, problem, is_loaded)


def about(recipe: Recipe, project: Project) -> Queries:
    """The queries about a recipe: `queries.about(recipe, project).evaluation.keys`."""
    return Queries(recipe, project)
