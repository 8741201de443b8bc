"""The target of a request: built once, however many claims about it are judged."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from . import placement, recipes, roles
from .attempts import Attempt, attempts
from .beside import CALLS, CLAIMS, POSITIONS
from .classes import Builder
from .observed import Observed
from .passing import take_stand_ins_for_layers
from .places import Spot
from .sources import Source, dotted_name
from .standins import described, likeliest
from .verdicts import Verdict, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from modellint.claims import Claim

    from .channel import Channel
    from .scaling import Scale
    from .standins import StandIns

#: Claims about the limits of look-ups, which the values observed at their places decide.
ENDS = (
    POSITIONS.LengthNotPositions,
    POSITIONS.StepBeyond,
    POSITIONS.TableEnds,
    POSITIONS.RowsDiffer,
    POSITIONS.TableShort,
    POSITIONS.NegativeFiller,
)
AT_ENDS = (*ENDS, POSITIONS.GridEmpty)


class Session:
    """Builds the target of a request once, for all probes of it."""

    def __init__(self, request: dict[str, Any], channel: Channel, stand_ins: StandIns) -> None:
        self._request = request
        self._channel = channel
        self.stand_ins = stand_ins
        self._recipe: recipes.Recipe | None = None
        self._sources: dict[str, Source] = {}
        #: The settings' arguments for the request's target where another file defines it, by name and file.
        self._configured: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._claims: dict[int, Claim] = {one["id"]: CLAIMS.from_json(one["claim"]) for one in request["probes"]}
        #: The class or function that is built or called for the present claim.
        self.name = ""
        #: Functions in which the present claim can be seen, the likeliest first, by file and name.
        self.functions: list[tuple[str, str]] = []
        #: Files that use the subject of the present claim.
        self.users: list[str] = []
        #: True if the present claim is about a limit, in which inherited code has no part.
        self._is_at_end = False
        #: The places whose values are observed, of claims about limits; and the acts that may be refused.
        ends = [Spot.of(claim.place) for claim in self._claims.values() if type(claim) in AT_ENDS]
        self.observed = Observed(ends, [Spot.of(claim.place) for claim in self.claims(CALLS.Refused, CALLS.OnCuda)])
        self.observed.install()
        take_stand_ins_for_layers()
        #: The builder that was used last: its assumptions are those of the verdict.
        self.builder: Builder | None = None
        #: True once the code asked for a GPU where there is none.
        self.asks_for_gpu = False
        #: The scale at which the target is built smaller than by its defaults; None if it is not.
        self.scale: Scale | None = None
        #: True once a check has used up its time without finding a way to call the target.
        self.was_in_vain = False
        #: True once a call of a large target has worked.
        self.works_when_large = False
        #: The present stage, for the reason of a verdict.
        self.stage = "starting"

    def take(self, probe: dict[str, Any]) -> Claim:
        """Begin with a probe, and give its claim."""
        self.name, self.functions, self.users = probe["name"], probe["functions"], probe["users"]
        claim = self._claims[probe["id"]]
        self._is_at_end = type(claim) in AT_ENDS
        return claim

    @property
    def device(self) -> str:
        """The device that the command line asks for: "auto", "cpu", "fake" or "cuda"."""
        wanted: str = self._request["device"]
        return wanted

    @property
    def is_on_gpu(self) -> bool:
        """True if there is a GPU to use, so that none need be simulated."""
        return self.device == "cuda"

    def machine(self) -> AbstractContextManager[Any]:
        """A machine with a `cuda:0`: the real one, or a simulated one."""
        return placement.on_gpu() if self.is_on_gpu else placement.pretended()

    @property
    def target(self) -> str:
        """The path of the file that is built from."""
        path: str = self._request["target"]["path"]
        return path

    @property
    def overrides(self) -> Mapping[str, Any]:
        """The settings' overrides of values of a recipe."""
        overrides: Mapping[str, Any] = self._request["overrides"]
        return overrides

    def claims(self, *kinds: type) -> list[Any]:
        """All claims of the request that are of one of these classes."""
        return [claim for claim in self._claims.values() if isinstance(claim, kinds)]

    def begin(self, stage: str) -> None:
        self.stage = stage
        self._channel.stage(stage)

    def recipe(self) -> recipes.Recipe:
        path = self._request["target"]["path"]
        self._recipe = recipes.Recipe(path, self._request["overrides"], self.stand_ins)
        return self._recipe

    def source(self) -> Source:
        """The Python file that defines the target: the one of the request, or the one that it has the name from."""
        known = next((path for name, path in self._configured if name == self.name), None)
        if known is not None:
            return self.load(known)
        source = self.load(self.target)
        home = source.home_of(self.name) if self.name else None
        if home is None:
            return source
        path, name = home
        said = self.settings_of(self.name, self.target)
        self._configured.setdefault((name, path), said)
        self.name = name
        return self.load(path)

    def source_again(self) -> Source:
        """The same file, imported again if another claim has imported it."""
        if self._sources:
            for path in self._sources:
                sys.modules.pop(dotted_name(path), None)
            self._sources.clear()
        return self.source()

    def load(self, path: str) -> Source:
        """A Python file, imported once."""
        if path not in self._sources:
            self.begin(f"importing `{os.path.basename(path)}`")
            self._sources[path] = Source(path, self.stand_ins)
        return self._sources[path]

    def settings_of(self, name: str, path: str) -> Mapping[str, Any]:
        """The settings' `arguments` and `inputs` of a class or function of a file; empty without any."""
        if said := self._configured.get((name, path)):
            return said
        path = path.replace(os.sep, "/")
        for target, said in self._request["targets"].items():
            file, is_file, wanted = target.partition("::")
            module, _, attribute = target.rpartition(":")
            if is_file and wanted == name and (path == file or path.endswith("/" + file.lstrip("./"))):
                return said
            if not is_file and attribute == name and module == dotted_name(path):
                return said
        return {}

    def attempts(
        self,
        name: str,
        *,
        variant: int = 0,
        device: str = "cpu",
        source: Source | None = None,
        kinds: Mapping[str, str] | None = None,
        keeps_defaults: bool = False,
    ) -> Iterator[Attempt]:
        """Ways to build a class, or to call a function, of a file; the first assumes the least.

        With `keeps_defaults` a default is replaced only by what else may be passed for None where that is refused.
        `kinds` are what parameters are known to be given: a `tensor`, or a `list`, `tuple` or `dict` of layers.
        """
        source = source or self.source()
        found = source.find(name)
        configured = self.settings_of(name, source.path)

        def begin(fixed: Mapping[str, Any]) -> Attempt:
            builder = Builder(source, configured, variant=variant, fixed=fixed, device=device)
            builder.allows_bases, builder.scale, builder.kinds = self._is_at_end, self.scale, kinds or {}
            builder.keeps_defaults = keeps_defaults
            self.builder = builder
            return Attempt(builder, found, configured)

        self.begin(f"building `{name}`")
        return attempts(begin)

    def first_seen(
        self, name: str, judge: Callable[[Attempt], Verdict | None], reasons: list[str], *, device: str = "cpu"
    ) -> Verdict:
        """The first verdict on an object of a class, of all ways to build it; `reasons` say why others have none."""
        for variant in (0, roles.EQUAL):
            for attempt in self.attempts(name, variant=variant, device=device):
                try:
                    verdict = judge(attempt)
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if verdict is not None:
                    return verdict
        return unconfirmed(likeliest(reasons))

    def assumed(self) -> list[str]:
        """The facts that a verdict rests on: replaced modules, unbuilt objects, fillers, defaults, assumptions."""
        facts = []
        if self.stand_ins.names:
            facts.append(f"not importable and replaced: {', '.join(self.stand_ins.names)}")
        if self._recipe is not None and self._recipe.replaced:
            facts.append(f"not built: {', '.join(self._recipe.replaced)}")
        if self._recipe is not None and self._recipe.filled:
            facts.append(f"placeholders filled: {', '.join(self._recipe.filled)}")
        if self.builder is not None and self.builder.kept:
            kept = "; ".join(f"{name} = {value}" for name, value in self.builder.kept.items())
            facts.append(f"by default: {kept}")
        if self.builder is not None and self.builder.assumed:
            facts.append(f"assumed: {'; '.join(self.builder.assumed)}")
        return facts
