"""The probe for each kind of claim, and the device that it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import nn

from . import asked, placement, recipes
from .beside import CALLS, CHECKS, CLAIMS, LAYERS, LOOKUPS, POSITIONS, RECIPES, TRAINING
from .binding import binding, landing
from .boundaries import boundaries
from .checkpointed import saving
from .configs import composing, entry, interpolating, parsing, repetition_of_key, targeting
from .creation import creation
from .cut import cutting
from .device_check import placement_check, with_gpu
from .evaluated import modes_check
from .fed import feeding
from .folder_checks import class_check, tokens_check, weights_check
from .folder_probes import PROBES
from .gradients import backward, change
from .grids import grid
from .grouped import grouping, optimizing
from .length_check import boundaries_check
from .loading import loading, reading
from .lookup_check import values_check
from .movement import making, movement
from .optimised import optimisation, recipe_optimisation, replacement
from .recipe_checks import recipe_loading_check, recipe_placement_check
from .refusals import placing, refusal
from .registration import registration
from .repeated import repetition
from .session import AT_ENDS, ENDS
from .standins import StandIn, described
from .trained import gradients_check
from .unset import lacking
from .values import values
from .verdicts import REFUTED, UNCONFIRMED, Verdict, confirmed, quoted, refuted, unconfirmed
from .vocabularies import growing, searching, tying
from .widths import shapes_check
from .wrapped import wrapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.claims.recipes import NoModule, NotMoved

    from .session import Session

_SHOWN = 8


def judge(session: Session, probe: dict[str, Any]) -> Verdict:
    """The verdict on a probe."""
    claim, wanted = session.take(probe), session.device
    needed = next((device for device, kinds in _DEVICES.items() if type(claim) in kinds), wanted)
    if wanted in _DEVICES and needed != wanted:
        detail = f"this takes a run on the {_DEVICE_NAMES[needed]}, and `--device {wanted}` was asked for"
        return unconfirmed(detail)
    outcome = _PROBES[type(claim)](session, claim)
    is_real = session.is_on_gpu and needed == "fake" and outcome.device == "fake"
    return replace(outcome, device="cuda") if is_real else outcome


def pretends(request: dict[str, Any]) -> bool:
    """True if a request needs a `FakeTensorMode`, which doubles the imports of torch."""
    return any(type(CLAIMS.from_json(probe["claim"])) not in _REAL for probe in request["probes"])


def _recipe_placement(session: Session, claim: NotMoved) -> Verdict:
    """Move the recipe's `modules`: confirmed if tensors below a key stay on the CPU."""
    key = claim.key
    with session.machine():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build((recipes.MODULES, key))
        session.begin("moving `modules`")
        recipes.place(objects, placement.DEVICE)
        try:
            found = recipe.object_at(objects, key)
        except KeyError:
            return unconfirmed(f"the recipe built no `{key}`")
        if isinstance(found, StandIn | recipes.Unbuilt):
            name = found.name if isinstance(found, recipes.Unbuilt) else type(found).__qualname__
            return unconfirmed(f"`{key}` could not be built: {recipe.replaced.get(name, name)}")
        if (owner := recipe.unbuilt_holder(key)) is not None:
            reason = f"`{key}` is passed to `{owner}`, which could not be built: {recipe.replaced[owner]}"
            return unconfirmed(reason)
        held = list(placement.state(found, key))
        stayed = [path for path, tensor in held if tensor.device.type == "cpu"]
        if not stayed:
            status = REFUTED if held else UNCONFIRMED
            fact = f"its parameters and buffers are on {placement.DEVICE}" if held else "it holds nothing to move"
            return Verdict(status, "fake", f"`{key}`: {fact}")
        names = quoted(stayed)
        detail = f"after `modules` moved to {placement.DEVICE}, {names} stayed on `cpu`"
        session.begin(f"running `{key}`")
        return confirmed(detail + _mix_error(found), "fake")


def _recipe_entry(session: Session, claim: NoModule) -> Verdict:
    """Build the recipe's `modules`: confirmed if a Brain's `modules` lack the key."""
    key = claim.key
    with session.machine():
        session.begin("building the recipe")
        objects = session.recipe().build((recipes.MODULES,))
        session.begin("moving `modules`")
        modules = recipes.place(objects, placement.DEVICE)
        entries = list(objects.get(recipes.MODULES) or ())
        if key in entries:
            return refuted(f"`modules` has `{key}`", "fake")
        try:
            getattr(modules, key)
        except AttributeError as error:
            held = quoted(entries, _SHOWN) or "no entries"
            detail = f"`self.modules.{key}` raises {described(error)}; `modules` has {held}"
            return confirmed(detail, "fake")
    return refuted(f"every `ModuleDict` has `{key}`", "fake")


def _mix_error(layer: object) -> str:
    """Torch's error for a layer that stayed on the CPU and gets an input on the device; "" if there is none."""
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
_CALLS = (
    CALLS.Refused,
    CALLS.RefusedLater,
    CALLS.NotTaken,
    CALLS.InSlot,
    CALLS.OnCuda,
    CALLS.AlwaysDrops,
    CALLS.OverBatch,
    CALLS.Lost,
    CALLS.Copied,
    LAYERS.NotSet,
    LAYERS.Unused,
    LAYERS.Changed,
    LAYERS.Repeated,
    TRAINING.Fed,
    TRAINING.NoGradient,
    TRAINING.InNoGroup,
    TRAINING.NothingToTrain,
)
#: The claims that can only be judged on one device.
_DEVICES = {
    "fake": (
        RECIPES.NotMoved,
        RECIPES.NoModule,
        LAYERS.LeftBehind,
        LAYERS.MadeAside,
        CHECKS.DevicesMix,
        CHECKS.SomethingStays,
    ),
    "cpu": (
        *_LOOKUPS,
        *AT_ENDS,
        *_CALLS,
        LAYERS.MadeAnew,
        CHECKS.LookupFails,
        CHECKS.EndFails,
        CHECKS.WidthsDiffer,
        CHECKS.NothingLearns,
        CHECKS.ModesDiffer,
    ),
}
#: The claims that are judged without any fake tensors.
_REAL = (
    *AT_ENDS,
    *_CALLS,
    LAYERS.MadeAnew,
    CHECKS.EndFails,
    CHECKS.NothingLearns,
    CHECKS.ModesDiffer,
    RECIPES.Unresolved,
    RECIPES.NotComposed,
    RECIPES.NotLocated,
    RECIPES.NotCalled,
    *PROBES,
    CHECKS.ClassFails,
    CHECKS.WeightsDiffer,
    CHECKS.TokensExceed,
    RECIPES.NotParsed,
)
_DEVICE_NAMES = {"fake": "device that is not there", "cpu": "CPU"}
_PROBES: dict[type, Callable[[Session, Any], Verdict]] = {
    **dict.fromkeys(_LOOKUPS, values),
    **dict.fromkeys(ENDS, boundaries),
    POSITIONS.GridEmpty: grid,
    CALLS.Refused: refusal,
    CALLS.RefusedLater: refusal,
    CALLS.NotTaken: binding,
    CALLS.InSlot: landing,
    CALLS.OnCuda: placing,
    CALLS.AlwaysDrops: asked.dropping,
    CALLS.OverBatch: asked.softening,
    CALLS.Lost: asked.losing,
    CALLS.Copied: asked.copying,
    LAYERS.NotSet: lacking,
    LAYERS.Unused: backward,
    LAYERS.Changed: change,
    LAYERS.Repeated: repetition,
    LAYERS.NotRegistered: registration,
    LAYERS.KeptAsGiven: registration,
    LAYERS.LeftBehind: movement,
    LAYERS.MadeAside: making,
    LAYERS.MadeAnew: creation,
    LAYERS.NotListed: optimisation,
    LAYERS.MovedLate: replacement,
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
    RECIPES.KeyTwice: repetition_of_key,
    RECIPES.NoEntry: entry,
    RECIPES.Unresolved: interpolating,
    RECIPES.NotComposed: composing,
    RECIPES.NotLocated: targeting,
    RECIPES.NotCalled: targeting,
    RECIPES.NotParsed: parsing,
    TRAINING.Fed: feeding,
    TRAINING.NoGradient: cutting,
    TRAINING.InNoGroup: grouping,
    TRAINING.NothingToTrain: optimizing,
    CHECKS.DevicesMix: with_gpu(placement_check),
    CHECKS.LookupFails: with_gpu(values_check),
    CHECKS.EndFails: with_gpu(boundaries_check),
    CHECKS.WidthsDiffer: with_gpu(shapes_check),
    CHECKS.NothingLearns: with_gpu(gradients_check),
    CHECKS.ModesDiffer: with_gpu(modes_check),
    CHECKS.LoadingFails: recipe_loading_check,
    CHECKS.SomethingStays: recipe_placement_check,
    CHECKS.ClassFails: class_check,
    CHECKS.WeightsDiffer: weights_check,
    CHECKS.TokensExceed: tokens_check,
    **PROBES,
}
