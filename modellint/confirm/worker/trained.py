"""The check of gradients: parameters without one, gradients that are not finite, and tensors no optimizer updates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from . import placement, roles
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCheck, arguments_of, too_many
from .making import seeing
from .passing import Passing
from .readers import is_read
from .seeds import seed_generators
from .standins import described
from .verdicts import NOTHING, PART, WHOLE, Verdict, quoted

if TYPE_CHECKING:
    from modellint.claims import Claim

    from .checking import Specs, TargetCall
    from .session import Session

_DDP = "DistributedDataParallel waits for it in vain, unless `find_unused_parameters` is set"


def gradients_check(session: Session, _: Claim) -> Verdict:
    """The check that a backward pass gives all parameters a finite gradient, and that no other tensor learns."""
    check = TargetCheck(session)
    with check.small() as size:
        if size > LARGE:
            return Verdict(NOT_RUN, None, too_many(size))
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant):
                if not isinstance(call.owner, nn.Module):
                    return check.nothing(call, "it is no module")
                passes = _Passes(call)
                outcome = check.verdict_of(call, passes.verdict)
                if outcome is not None:
                    return passes.conclude(outcome)
        return check.not_run()


def _learning(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that need a gradient, but for those of stand-in layers."""
    made_up = {id(one) for part in model.modules() if isinstance(part, Passing) for one in part.parameters()}
    return {name: one for name, one in model.named_parameters() if one.requires_grad and id(one) not in made_up}


class _Passes:
    """The backward passes through one object."""

    def __init__(self, call: TargetCall) -> None:
        self._call = call
        self._owner: nn.Module = call.owner
        self._known = _learning(self._owner)
        #: The parameters that got a gradient in any pass, by identity.
        self._reached: set[int] = set()
        #: The modules that the last call created.
        self._made: list[nn.Module] = []
        #: The names of parameters that the first call created.
        self._late: list[str] = []
        self._is_first = True

    def verdict(self, specs: Specs) -> Verdict | Exception:
        """The verdict of one pass, or the error that decides nothing."""
        seed_generators(0)
        error = self._forward(specs, arguments_of(specs, "cpu"))
        if error is not None:
            return error
        self._call.note(specs)
        if fact := self._made_anew(specs):
            return self._failed(fact)
        given = [one for one in placement.below(self._call.result) if isinstance(one, torch.Tensor)]
        if not self._known:
            return Verdict(NOT_RUN, None, "it has no parameters that learn", NOTHING)
        error = self._backward(given)
        if error is not None:
            return self._failed(f"the backward pass raises {described(error)[:240]}") if self._is_first else error
        self._is_first = False
        if not any(one.requires_grad for one in given):
            return Verdict(NOT_RUN, None, "what a call gives depends on no parameter", NOTHING)
        if lost := self._stray_tensors():
            return self._failed(
                f"{quoted(lost)} gets a gradient, and is none of the `parameters()`: no optimizer has it"
            )
        if local := self._used_once():
            return self._failed(f"{local} is made anew by each call, gets a gradient, and is gone after it")
        reached = {name: one for name, one in self._known.items() if one.grad is not None}
        odd = [name for name, one in reached.items() if one.grad is not None and not one.grad.isfinite().all()]
        if odd and all(map(_is_finite, given)) and self._is_odd_again(specs, odd):
            return self._failed(f"the gradient of {quoted(odd)} is not finite, though all that the call gives is")
        self._reached |= {id(one) for one in reached.values()}
        detail = f"a backward pass gives {len(reached) - len(odd)} of {len(self._known)} parameters a finite gradient"
        if any(bool(one.isnan().any()) for one in given):
            return Verdict(PASSED, "cpu", f"{detail}, but some of what the call gives is no number", PART)
        return Verdict(PASSED, "cpu", detail, PART if odd else WHOLE)

    def conclude(self, outcome: Verdict) -> Verdict:
        """The verdict of all passes, with the parameters that none of them reached."""
        if outcome.status is not PASSED:
            return outcome
        left = [name for name, one in self._known.items() if id(one) not in self._reached]
        unread = [name for name in dict.fromkeys(map(self._holder, left)) if name and not self._is_read(name)]
        if unread:
            return self._failed(f"{quoted(unread)} gets no gradient in any call, and nothing reads it: {_DDP}")
        detail = outcome.detail
        if left:
            detail += f"; no call that was made gives {quoted(left)} one: {_DDP}"
        if self._late:
            detail += f"; {quoted(self._late)} is made by the first call: an optimizer has to be made after it"
        return replace(outcome, detail=detail, extent=PART if left or self._late else outcome.extent)

    def _failed(self, detail: str) -> Verdict:
        return Verdict(FAILED, "cpu", detail)

    def _forward(self, specs: Specs, given: dict[str, Any]) -> Exception | None:
        for _, tensor in placement.tensors(self._owner):
            if tensor.is_leaf:
                tensor.grad = None
        self._made.clear()
        with seeing(nn.Module, lambda module, _: self._made.append(module)):
            return self._call.run(specs, "cpu", given=given, has_gradients=True)

    def _backward(self, given: list[torch.Tensor]) -> Exception | None:
        """Run the backward pass from all tensors that need gradients; gives its error, or None."""
        sums = [one.abs().sum().double() for one in given if one.requires_grad]
        try:
            if sums:
                torch.stack(sums).sum().backward()
        except RuntimeError as error:
            return error
        return None

    def _made_anew(self, specs: Specs) -> str | None:
        """A sentence if each call creates a parameter anew, or None; parameters of the first call alone are noted."""
        known = {id(one) for one in self._known.values()}
        after = _learning(self._owner)
        new = [name for name, one in after.items() if id(one) not in known]
        if not new:
            return None
        result = self._call.result
        self._call.run(specs, "cpu")
        self._call.result = result
        again = _learning(self._owner)
        each = [name for name in new if again.get(name) is not after[name]]
        if each:
            return f"{quoted(each)} is made anew by each call: an optimizer that was made before never changes it"
        self._late += new
        self._known = after
        return None

    def _used_once(self) -> str | None:
        """A layer that a call creates, uses once and drops, though it learns; None if there is none."""
        known = {id(one) for _, one in placement.tensors(self._owner)}
        for layer in self._made:
            learn = [one for one in layer.parameters(recurse=False) if one.grad is not None and id(one) not in known]
            if learn:
                return f"`{type(layer).__name__}` with {sum(one.numel() for one in learn)} numbers"
        return None

    def _stray_tensors(self) -> list[str]:
        """The tensors of the model that get a gradient, but are none of its parameters."""
        known = {id(one) for one in self._owner.parameters()}
        passed = self._call.attempt.builder.arguments.get(id(self._owner), {})
        known |= {id(one) for one in placement.below(list(passed.values())) if isinstance(one, torch.Tensor)}
        return [
            path
            for path, tensor in placement.tensors(self._owner)
            if tensor.is_leaf and tensor.requires_grad and tensor.grad is not None and id(tensor) not in known
        ]

    def _is_odd_again(self, specs: Specs, odd: list[str]) -> bool:
        """True if the same gradients are not finite with positive inputs, too."""
        seed_generators(1)
        given = tree_map_only(torch.Tensor, _positive, arguments_of(specs, "cpu"))
        if self._forward(specs, given) is not None:
            return False
        results = [one for one in placement.below(self._call.result) if isinstance(one, torch.Tensor)]
        if self._backward(results) is not None or not all(map(_is_finite, results)):
            return False
        grads = [self._known[name].grad for name in odd]
        return all(grad is not None and not grad.isfinite().all() for grad in grads)

    def _holder(self, name: str) -> str:
        """The path of the outermost module around a parameter in which no parameter was reached."""
        parts = name.split(".")
        for number in range(1, len(parts)):
            path = ".".join(parts[:number])
            inside = [one for key, one in self._known.items() if key.startswith(path + ".")]
            if not any(id(one) in self._reached for one in inside):
                return path
        return name

    def _is_read(self, path: str) -> bool:
        """True if code may read the attribute at a path; parts of torch's containers are read by number."""
        above, _, name = path.rpartition(".")
        holder = self._owner.get_submodule(above)
        return type(holder).__module__.startswith("torch.") or is_read(holder, name)


def _positive(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.abs() + 0.1 if tensor.is_floating_point() else tensor


def _is_finite(tensor: torch.Tensor) -> bool:
    return bool(tensor.isfinite().all())
