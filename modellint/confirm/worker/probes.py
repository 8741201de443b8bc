"""What a run has to observe, for each kind of claim."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from torch import nn

from . import battery, classes, placement, recipes
from .beside import CHECKS, CLAIMS, LAYERS, LOOKUPS, POSITIONS, RECIPES
from .boundaries import boundaries
from .configs import interpolating, targeting
from .creation import creation
from .grids import grid
from .loading import loading, reading
from .movement import movement
from .observed import Observed
from .places import Spot
from .registration import registration
from .standins import StandIn, described
from .training import optimisation, recipe_optimisation, saving, wrapping
from .values import values
from .vocabularies import growing, searching, tying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from modellint.claims import Claim
    from modellint.claims.recipes import NoModule, NotMoved

    from .channel import Channel
    from .standins import StandIns

CONFIRMED, REFUTED, UNCONFIRMED = "confirmed", "refuted", "unconfirmed"
_SHOWN = 8


class Session:
    """Builds the target of a request once, and runs probes on it."""

    def __init__(self, request: dict[str, Any], channel: Channel, stand_ins: StandIns) -> None:
        self._request = request
        self._channel = channel
        self.stand_ins = stand_ins
        self._recipe: recipes.Recipe | None = None
        self._sources: dict[str, classes.Source] = {}
        self._claims: dict[int, Claim] = {one["id"]: CLAIMS.from_json(one["claim"]) for one in request["probes"]}
        #: The class or function that is built or called for the claim at hand.
        self.name = ""
        #: Functions in which the claim at hand can be seen, the likeliest first, by file and name.
        self.functions: list[tuple[str, str]] = []
        #: Files that use what the claim at hand is about.
        self.users: list[str] = []
        #: The values of expressions that are at the ends of what they are made for.
        self.observed = Observed(Spot.of(claim.place) for claim in self._claims.values() if type(claim) in _AT_ENDS)
        self.observed.install()
        #: What was built last: its assumptions are those of the outcome.
        self.builder: classes.Builder | None = None
        #: What is being done, for the reason of an outcome.
        self.stage = "starting"

    def run(self, probe: dict[str, Any]) -> dict[str, Any]:
        """The outcome of a probe: its status, the device, and what was observed."""
        claim, wanted = self._claims[probe["id"]], self._request["device"]
        self.name, self.functions, self.users = probe["name"], probe["functions"], probe["users"]
        needed = next((device for device, kinds in _DEVICES.items() if type(claim) in kinds), wanted)
        if wanted in _DEVICES and needed != wanted:
            detail = f"this takes a run on the {_DEVICE_NAMES[needed]}, and `--device {wanted}` was asked for"
            return {"status": UNCONFIRMED, "detail": detail}
        outcome = _PROBES[type(claim)](self, claim)
        if self.is_on_gpu and needed == "fake" and outcome.get("device") == "fake":
            outcome["device"] = "cuda"
        return outcome

    @property
    def is_on_gpu(self) -> bool:
        """Whether there is a GPU to use, so that none need be pretended."""
        is_wanted: bool = self._request["device"] == "cuda"
        return is_wanted

    def machine(self) -> AbstractContextManager[Any]:
        """A machine with a `cuda:0`: the real one, or one that is not there."""
        return placement.on_gpu() if self.is_on_gpu else placement.pretended()

    @property
    def target(self) -> str:
        """The file that is to be built."""
        path: str = self._request["target"]["path"]
        return path

    @property
    def overrides(self) -> Mapping[str, Any]:
        """What the settings put in the place of values of a recipe."""
        overrides: Mapping[str, Any] = self._request["overrides"]
        return overrides

    def claims(self, *kinds: type) -> list[Any]:
        """All claims of some kinds."""
        return [claim for claim in self._claims.values() if isinstance(claim, kinds)]

    def begin(self, stage: str) -> None:
        self.stage = stage
        self._channel.stage(stage)

    def recipe(self) -> recipes.Recipe:
        path = self._request["target"]["path"]
        self._recipe = recipes.Recipe(path, self._request["overrides"], self.stand_ins)
        return self._recipe

    def source(self) -> classes.Source:
        """The Python file that the request is about."""
        return self.load(self._request["target"]["path"])

    def load(self, path: str) -> classes.Source:
        """A Python file, imported once."""
        if path not in self._sources:
            self.begin(f"importing `{os.path.basename(path)}`")
            self._sources[path] = classes.Source(path, self.stand_ins)
        return self._sources[path]

    def configured(self, name: str, path: str) -> Mapping[str, Any]:
        """What the settings say of a class or function of a file: its `arguments` and `inputs`."""
        path = path.replace(os.sep, "/")
        for target, said in self._request["targets"].items():
            file, is_file, wanted = target.partition("::")
            module, _, attribute = target.rpartition(":")
            if is_file and wanted == name and (path == file or path.endswith("/" + file.lstrip("./"))):
                return said
            if not is_file and attribute == name and module == classes.dotted_name(path):
                return said
        return {}

    def attempts(
        self, name: str, *, variant: int = 0, device: str = "cpu", source: classes.Source | None = None
    ) -> Iterator[classes.Attempt]:
        """Ways to build a class, or to call a function, of a file; the first assumes the least."""
        source = source or self.source()
        found = source.find(name)
        configured = self.configured(name, source.path)

        def begin(fixed: Mapping[str, Any]) -> classes.Attempt:
            builder = classes.Builder(source, configured, variant=variant, fixed=fixed, device=device)
            self.builder = builder
            return classes.Attempt(builder, found, configured)

        self.begin(f"building `{name}`")
        return classes.attempts(begin)

    def assumed(self) -> list[str]:
        """What was filled in or replaced on the way."""
        facts = []
        if self.stand_ins.names:
            facts.append(f"not importable and replaced: {', '.join(self.stand_ins.names)}")
        if self._recipe is not None and self._recipe.replaced:
            facts.append(f"not built: {', '.join(self._recipe.replaced)}")
        if self._recipe is not None and self._recipe.filled:
            facts.append(f"placeholders filled: {', '.join(self._recipe.filled)}")
        if self.builder is not None and self.builder.assumed:
            facts.append(f"assumed: {'; '.join(self.builder.assumed)}")
        return facts


def _recipe_placement(session: Session, claim: NotMoved) -> dict[str, Any]:
    """Which tensors below a key stay on the CPU after the `modules` of a recipe were moved."""
    key = claim.key
    with session.machine():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build((recipes.MODULES, key))
        session.begin("moving `modules`")
        recipes.place(objects, placement.DEVICE)
        try:
            found = recipes.found(objects, key)
        except KeyError:
            return {"status": UNCONFIRMED, "detail": f"the recipe built no `{key}`"}
        if isinstance(found, StandIn | recipes.Unbuilt):
            name = found.name if isinstance(found, recipes.Unbuilt) else type(found).__qualname__
            return {"status": UNCONFIRMED, "detail": f"`{key}` could not be built: {recipe.replaced.get(name, name)}"}
        if (owner := recipe.lost(key)) is not None:
            reason = f"`{key}` is passed to `{owner}`, which could not be built: {recipe.replaced[owner]}"
            return {"status": UNCONFIRMED, "detail": reason}
        held = list(placement.state(found, key))
        stayed = [path for path, tensor in held if tensor.device.type == "cpu"]
        if not stayed:
            status = REFUTED if held else UNCONFIRMED
            fact = f"its parameters and buffers are on {placement.DEVICE}" if held else "it holds nothing to move"
            return {"status": status, "device": "fake", "detail": f"`{key}`: {fact}"}
        names = ", ".join(f"`{path}`" for path in stayed[:4]) + (" …" if len(stayed) > 4 else "")
        detail = f"after `modules` moved to {placement.DEVICE}, {names} stayed on `cpu`"
        session.begin(f"running `{key}`")
        return {"status": CONFIRMED, "device": "fake", "detail": detail + _mixed(found)}


def _recipe_entry(session: Session, claim: NoModule) -> dict[str, Any]:
    """Whether the `modules` of a recipe have an entry, once they are what a Brain keeps."""
    key = claim.key
    with session.machine():
        session.begin("building the recipe")
        objects = session.recipe().build((recipes.MODULES,))
        session.begin("moving `modules`")
        modules = recipes.place(objects, placement.DEVICE)
        entries = list(objects.get(recipes.MODULES) or ())
        if key in entries:
            return {"status": REFUTED, "device": "fake", "detail": f"`modules` has `{key}`"}
        try:
            getattr(modules, key)
        except AttributeError as error:
            detail = f"`self.modules.{key}` raises {described(error)}; `modules` has {_listed(entries)}"
            return {"status": CONFIRMED, "device": "fake", "detail": detail}
    return {"status": REFUTED, "device": "fake", "detail": f"every `ModuleDict` has `{key}`"}


def _listed(entries: list[str]) -> str:
    names = [f"`{name}`" for name in entries]
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "") if names else "no entries"


def _mixed(layer: object) -> str:
    """What torch says when a layer that stayed behind is given an input on the device."""
    given = recipes.example_input(layer, placement.DEVICE) if isinstance(layer, nn.Module) else None
    if given is None:
        return ""
    try:
        layer(given)  # type: ignore[operator]
    except Exception as error:
        if "same device" in str(error) or "device" in type(error).__name__.lower():
            return f"; called with an input on {placement.DEVICE}: {' '.join(str(error).split())[:160]}"
    return ""


_LOOKUPS = (
    LOOKUPS.SizedByWidth,
    LOOKUPS.FedNumbers,
    LOOKUPS.IdsExceed,
    LOOKUPS.GuardAdmits,
    LOOKUPS.PaddingOutside,
    LOOKUPS.ConstantOutside,
)
_ENDS = (
    POSITIONS.LengthNotPositions,
    POSITIONS.StepBeyond,
    POSITIONS.TableEnds,
    POSITIONS.NegativeFiller,
)
_AT_ENDS = (*_ENDS, POSITIONS.GridEmpty)
#: The claims that can only be judged on one device.
_DEVICES = {
    "fake": (RECIPES.NotMoved, RECIPES.NoModule, LAYERS.LeftBehind, CHECKS.DevicesMix, CHECKS.SomethingStays),
    "cpu": (*_LOOKUPS, *_AT_ENDS, LAYERS.MadeAnew, CHECKS.LookupFails, CHECKS.EndFails),
}
_DEVICE_NAMES = {"fake": "device that is not there", "cpu": "CPU"}
_PROBES: dict[type, Callable[[Session, Any], dict[str, Any]]] = {
    **dict.fromkeys(_LOOKUPS, values),
    **dict.fromkeys(_ENDS, boundaries),
    POSITIONS.GridEmpty: grid,
    LAYERS.NotRegistered: registration,
    LAYERS.LeftBehind: movement,
    LAYERS.MadeAnew: creation,
    LAYERS.NotListed: optimisation,
    LAYERS.Tied: tying,
    LAYERS.Outgrown: growing,
    RECIPES.NotMoved: _recipe_placement,
    RECIPES.NoModule: _recipe_entry,
    RECIPES.NotSaved: saving,
    RECIPES.NotTrained: recipe_optimisation,
    RECIPES.OptimizerNotSaved: recipe_optimisation,
    RECIPES.NotWrapped: wrapping,
    RECIPES.SizesDiffer: searching,
    RECIPES.RowsLacking: searching,
    RECIPES.NotLoaded: loading,
    RECIPES.NotMade: loading,
    RECIPES.NoKey: reading,
    RECIPES.Unresolved: interpolating,
    RECIPES.NotLocated: targeting,
    RECIPES.NotCalled: targeting,
    CHECKS.DevicesMix: battery.placement_check,
    CHECKS.LookupFails: battery.values_check,
    CHECKS.EndFails: battery.boundaries_check,
    CHECKS.LoadingFails: battery.recipe_loading_check,
    CHECKS.SomethingStays: battery.recipe_placement_check,
}
