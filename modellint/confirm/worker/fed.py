"""The elements that losses and activations are fed with: probabilities, scores, logarithms, or the result of a ReLU."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from .places import Spot
from .practice import Watch, practise
from .promised import value_of
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.claims.training import Fed

    from .session import Session

#: The functions of torch that run behind its layers, or behind functions, by another name.
_FUNCTIONS = {
    "CrossEntropyLoss": "cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "BCELoss": "binary_cross_entropy",
    "NLLLoss": "nll_loss",
    "KLDivLoss": "kl_div",
    "CTCLoss": "ctc_loss",
    "Linear": "linear",
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "Softmin": "softmin",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "log_sigmoid",
    "logsigmoid": "log_sigmoid",
    "Tanh": "tanh",
}
#: The backward nodes of the operators that make each kind of elements: the beginnings of their names.
_MAKERS = {
    "probabilities": ("Softmax",),
    "chances": ("Sigmoid",),
    "positives": ("Relu", "Hardtanh"),
    "log-probabilities": ("LogSoftmax",),
    "log-chances": ("LogSigmoid",),
    "scores": ("Addmm", "Mm", "Bmm", "Convolution", "Linear", "Baddbmm", "Add"),
}
#: The same of operators that only move elements.
_MOVING = (
    *("View", "UnsafeView", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Permute", "TBackward", "Expand", "Slice"),
    *(
        "Select",
        "Index",
        "Clone",
        "Alias",
        "ToCopy",
        "AsStrided",
        "Split",
        "Unbind",
        "Narrow",
        "Unfold",
        "Gather",
        "NativeDropout",
    ),
)
#: The kinds that have other names in texts.
_WORDS = {
    "chances": "result of a sigmoid",
    "positives": "result of a ReLU",
    "log-probabilities": "logarithms of probabilities",
    "log-chances": "logarithms of a sigmoid",
}
#: The least and the largest number of each kind.
_RANGES = {
    "probabilities": (0.0, 1.0),
    "chances": (0.0, 1.0),
    "positives": (0.0, math.inf),
    "log-probabilities": (-math.inf, 0.0),
    "log-chances": (-math.inf, 0.0),
}
#: The losses of log-probabilities, and of probabilities.
_OF_LOGARITHMS, _OF_CHANCES = ("nll_loss", "kl_div", "ctc_loss"), "binary_cross_entropy"
#: A linear layer, and the backward nodes of one.
_LINEAR, _LINEAR_MAKERS = "linear", ("Addmm", "Mm", "Bmm", "Linear")
#: So many elements are not in a range by chance.
_MANY = 32
_TOLERANCE = 1e-3


def feeding(session: Session, claim: Fed) -> Verdict:
    """Run the place: confirmed if the loss or activation refuses its elements, or they are of the claimed kind."""
    return practise(session, _Fed(claim))


class _Fed(Watch):
    """Judges the first argument of the function at the place."""

    def __init__(self, claim: Fed) -> None:
        super().__init__(Spot.of(claim.place))
        self._said, self._kind = claim.function, claim.kind
        self._function = _FUNCTIONS.get(claim.function, claim.function)

    def judge(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
        if name not in (self._said, self._function):
            return run()
        given = value_of(args[0] if args else kwargs.get("input"))
        if not isinstance(given, torch.Tensor) or not given.numel() or not given.is_floating_point():
            return run()
        elements = _Elements(given)
        is_made = elements.origin.startswith(_MAKERS.get(self._kind, ()))
        if self._function in _OF_LOGARITHMS:  # whatever the targets are
            self.outcome = self._of_logarithms(elements, is_made=is_made)
            self.is_undecided = self.outcome is None
            return None if self.outcome is not None else run()
        try:
            result = run()
        except RuntimeError as error:
            if "elements of input should be between 0 and 1" in str(error) and is_made:
                self.outcome = confirmed(f"`{self._said}` raises {described(error)}; it gets {elements}")
                return None
            raise
        self.outcome = self._verdict(elements, kwargs, result, is_made=is_made)
        self.is_undecided = self.outcome is None
        return result

    @property
    def _is_sure(self) -> bool:
        """True if no tensor went through an unknown function."""
        return not self.layers.promises.is_guessing

    def _verdict(self, elements: _Elements, kwargs: Any, result: Any, *, is_made: bool) -> Verdict | None:
        """The verdict on elements that the function takes; None if they do not tell."""
        if not is_made and not self._is_sure:
            return None
        if self._function == _OF_CHANCES:  # it takes numbers that are in its range by chance
            if is_made and self._kind.startswith("log-") and elements.are_in(-math.inf, 0):
                return confirmed(f"`{self._said}` gets {elements}, which are {_WORDS[self._kind]}")
            is_right = elements.origin.startswith((*_MAKERS["probabilities"], *_MAKERS["chances"]))
            return self._harmless(elements) if is_right else None
        if self._function == _LINEAR:
            if elements.origin.startswith(_LINEAR_MAKERS):
                return confirmed(
                    f"`{self._said}` gets what another linear layer gives: nothing changes it between them"
                )
            return None
        low, high = _RANGES.get(self._kind, (math.inf, -math.inf))
        along, sums = None, ""
        if self._kind == "probabilities":
            along, sums = elements.shares(), ", which sum to 1 along dimension {}"
        elif self._kind == "log-probabilities":
            along, sums = elements.log_shares(), ", whose exponentials sum to 1 along dimension {}"
        if not elements.are_in(low, high) or (sums and along is None):
            return self._harmless(elements)
        if not is_made and (elements.number < _MANY or (elements.origin and along is None)):
            return None
        detail = f"`{self._said}` gets {elements}{sums.format(along)}"
        return confirmed(f"{detail}: {self._effect(elements, along, kwargs, result)}")

    def _of_logarithms(self, elements: _Elements, *, is_made: bool) -> Verdict | None:
        """The verdict on the elements of a loss that takes log-probabilities; None if they do not tell."""
        if elements.log_shares() is not None or elements.origin.startswith(_MAKERS["log-probabilities"]):
            return self._harmless(elements)
        if not is_made:
            return None
        return confirmed(f"`{self._said}` gets {elements}: their exponentials do not sum to 1 along any dimension")

    def _harmless(self, elements: _Elements) -> Verdict | None:
        """The verdict that the elements are of another kind, if layers compute them; else None."""
        if not elements.are_learnt or not self._is_sure:
            return None
        return refuted(f"`{self._said}` gets {elements}, which are no {_WORDS.get(self._kind, self._kind)}")

    def _effect(self, elements: _Elements, along: int | None, kwargs: dict[str, Any], result: Any) -> str:
        """The range of the loss for such elements, or the result of the activation, in words."""
        if not self._is_loss:
            return f"it gives {_Elements(result)}"
        bounds = self._bounds(elements, along) if _is_plain(kwargs) else None
        if bounds is None:
            return "it expects scores"
        return f"the loss is from {bounds[0]:.2f} to {bounds[1]:.2f}, whatever the layers give"

    @property
    def _is_loss(self) -> bool:
        return self._function.startswith(("cross_entropy", "binary_cross_entropy"))

    def _bounds(self, elements: _Elements, along: int | None) -> tuple[float, float] | None:
        """The least and the largest loss that elements between 0 and 1 can have; None if that is not known."""
        if self._kind not in ("probabilities", "chances"):
            return None
        if self._function != "cross_entropy":
            return math.log(1 + 1 / math.e), math.log(1 + math.e)
        others = elements.classes - 1
        low = math.log(1 + others / math.e)
        if self._kind == "chances":
            return low, math.log(1 + others * math.e)
        return (low, math.log(others + math.e)) if along == elements.classes_along else None


class _Elements:
    """The elements of a tensor, which a text names by their number and range."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.origin = _origin(tensor)
        #: True if a layer has computed them.
        self.are_learnt = tensor.requires_grad
        self._tensor = tensor.detach().float()
        self.number = tensor.numel()
        self.classes_along = min(1, tensor.dim() - 1)

    @property
    def classes(self) -> int:
        """The number of classes that they are scores of."""
        return self._tensor.shape[self.classes_along] if self._tensor.dim() else 1

    def are_in(self, low: float, high: float) -> bool:
        """True if all are in a range."""
        return low - _TOLERANCE <= float(self._tensor.min()) and float(self._tensor.max()) <= high + _TOLERANCE

    def shares(self) -> int | None:
        """The dimension along which they are shares of 1; None if there is none."""
        return _dimension_of_shares(self._tensor)

    def log_shares(self) -> int | None:
        """The dimension along which they are logarithms of shares of 1; None if there is none."""
        return _dimension_of_shares(self._tensor.exp())

    def __str__(self) -> str:
        low, high = float(self._tensor.min()), float(self._tensor.max())
        return f"{self.number} numbers from {low:.2f} to {high:.2f}" if self.number > 1 else f"the number {low:.2f}"


def _dimension_of_shares(given: torch.Tensor) -> int | None:
    if float(given.min()) < 0:
        return None
    found = [dim for dim in range(given.dim()) if bool(((given.sum(dim) - 1).abs() < _TOLERANCE).all())]
    wide = [dim for dim in found if given.shape[dim] > 1]
    return 1 if 1 in wide else next(iter(wide), None)


def _is_plain(kwargs: dict[str, Any]) -> bool:
    """True if a loss has no weights and no smoothed targets, and is a mean."""
    settings = ("weight", "pos_weight", "label_smoothing")
    return not any(map(kwargs.get, settings)) and kwargs.get("reduction", "mean") == "mean"


def _origin(tensor: torch.Tensor) -> str:
    """The name of the backward node of the operator that made the elements of a tensor; empty if it is not known."""
    node: Any = tensor.grad_fn
    while node is not None:
        name = type(node).__name__
        if not name.startswith(_MOVING) or not node.next_functions:
            return name
        node = node.next_functions[0][0]
    return ""
