"""Probes of a shared vocabulary: tied weights, a table and its tokenizer, the ends of a search."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import placement, recipes, roles
from .beside import RECIPES
from .calls import callables_of
from .places import Spot
from .standins import described, likeliest
from .verdicts import CONFIRMED, REFUTED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import Outgrown, Tied
    from modellint.claims.recipes import RowsLacking, SizesDiffer

    from .session import Session

_MAX_CALLS = 8


@contextlib.contextmanager
def _noting_layers(spots: list[Spot]) -> Iterator[dict[Spot, tuple[nn.Module, int]]]:
    """Note the last table or linear layer created at each place, with its number of ids."""
    made: dict[Spot, tuple[nn.Module, int]] = {}
    kinds: tuple[tuple[Any, str], ...] = ((nn.Embedding, "num_embeddings"), (nn.Linear, "out_features"))
    originals = {kind: kind.__init__ for kind, _ in kinds}

    def noting(kind: Any, size: str) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            originals[kind](self, *args, **kwargs)
            for spot in spots:
                if spot.is_running(sys._getframe(1)):
                    made[spot] = self, getattr(self, size)

        return init

    try:
        for kind, size in kinds:
            kind.__init__ = noting(kind, size)
        yield made
    finally:
        for kind, original in originals.items():
            kind.__init__ = original


# -- layers that share a weight ----------------------------------------------------------------------------------------


def tying(session: Session, claim: Tied) -> Verdict:
    """Build the model: confirmed if two layers that share a weight are made for different numbers of ids."""
    spots = [Spot.of(claim.place), Spot.of(claim.other)]
    reasons: list[str] = []
    facts: list[tuple[bool, str]] = []
    builder = None
    with placement.pretended():
        for variant in (*roles.VARIANTS, roles.EQUAL):
            for attempt in session.attempts(claim.owner, variant=variant, device=placement.DEVICE):
                try:
                    with _noting_layers(spots) as made:
                        attempt.build()
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if len(made) < len(spots):
                    reasons.append("the two layers are not both made with these arguments")
                    continue
                (one, number), (other, wanted) = (made[spot] for spot in spots)
                if one.weight is not other.weight and not claim.is_declared:
                    reasons.append("the two layers do not share their weight with these arguments")
                    continue
                fact = f"`{type(one).__name__}` is made for {number} ids, `{type(other).__name__}` for {wanted}"
                facts.append((number != wanted, fact))
                builder = builder or attempt.builder
            if builder is not None and not builder.numbers.assumed:
                break
    if not facts:
        return unconfirmed(likeliest(reasons))
    session.builder = builder
    if all(differ for differ, _ in facts):
        return confirmed(f"{facts[0][1]}, and they share their weight", "fake")
    if any(differ for differ, _ in facts):
        return unconfirmed(f"it depends on numbers that were assumed: {facts[0][1]}")
    return refuted(facts[0][1], "fake")


# -- a table and its tokenizer -----------------------------------------------------------------------------------------


class _Tokenizer:
    """A tokenizer with some tokens, to which tokens can be added."""

    vocab_size = 100
    eos_token, bos_token, unk_token = "</s>", "<s>", "<unk>"

    def __init__(self) -> None:
        self._known = {self.eos_token, self.bos_token, self.unk_token}
        self._size = self.vocab_size

    def __len__(self) -> int:
        return self._size

    def add_tokens(self, tokens: Any, *_: Any, **__: Any) -> int:
        new = {str(token) for token in ([tokens] if isinstance(tokens, str) else tokens)} - self._known
        self._known |= new
        self._size += len(new)
        return len(new)

    def add_special_tokens(self, tokens: dict[str, Any], *_: Any, **__: Any) -> int:
        return sum(self.add_tokens(value) for value in tokens.values())


def growing(session: Session, claim: Outgrown) -> Verdict:
    """Call the function: confirmed if the table has fewer rows afterwards than the tokenizer has ids."""
    name, table, argument = session.name, Spot.of(claim.table), claim.tokenizer
    reasons: list[str] = []
    for function, inputs in callables_of(session, name, reasons):
        if inputs.candidates.pop(argument, None) is None:
            continue
        for number, specs in enumerate(inputs.combinations()):
            if number >= _MAX_CALLS:
                break
            tokenizer = _Tokenizer()
            try:
                with _noting_layers([table]) as made, torch.no_grad():
                    result = function(**{argument: tokenizer, **{key: spec.make("cpu") for key, spec in specs.items()}})
            except Exception as error:
                reasons.append(f"calling `{name}`: {described(error)[:200]}")
                inputs.learn(error, specs)
                continue
            layer = made[table][0] if table in made else None
            is_kept = any(part is layer for part in placement.below(result))
            if isinstance(layer, nn.Embedding) and is_kept and len(tokenizer) > tokenizer.vocab_size:
                rows = layer.weight.shape[0]
                fact = f"after the call the tokenizer has {len(tokenizer)} ids, and the table {rows} rows"
                status = CONFIRMED if rows < len(tokenizer) else REFUTED
                return Verdict(status, "cpu", fact)
            reasons.append("no tokens were added, or the table that is made there is not handed back")
    return unconfirmed(likeliest(reasons))


# -- the ends of a search ----------------------------------------------------------------------------------------------


def searching(session: Session, claim: SizesDiffer | RowsLacking) -> Verdict:
    """Build two layers of a recipe: confirmed if their last linear layers score different numbers of ids.

    If the second is a table: confirmed if the first scores more ids than the table has rows.
    """
    looks_up = isinstance(claim, RECIPES.RowsLacking)
    keys = [claim.head, claim.other]
    kinds: list[tuple[type[nn.Module], str, str]] = [(nn.Linear, "out_features", "scores {} ids")] * 2
    if looks_up:
        kinds[1] = (nn.Embedding, "num_embeddings", "has {} rows")
    sizes, facts = [], []
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(keys)
        for key, (kind, size, says) in zip(keys, kinds, strict=True):
            layer = recipes.lookup(objects, key)
            parts = [part for part in layer.modules() if isinstance(part, kind)] if _is_layer(layer) else []
            if not parts:
                return unconfirmed(f"`{key}` has no `{kind.__name__}`: {recipe.reason(layer)}")
            sizes.append(getattr(parts[-1], size))
            facts.append(f"`{key}` {says.format(sizes[-1])}")
    is_wrong = sizes[0] > sizes[1] if looks_up else sizes[0] != sizes[1]
    return Verdict(CONFIRMED if is_wrong else REFUTED, "fake", " and ".join(facts))


def _is_layer(found: object) -> bool:
    return isinstance(found, nn.Module) and not isinstance(found, recipes.Unbuilt)
