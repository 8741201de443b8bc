"""Texts and numbers that functions and layers of torch refuse, though their kind is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.finding import Place

_REDUCTIONS = ("none", "mean", "sum")
_PADDINGS = ("zeros", "reflect", "replicate", "circular")
_NORMS = ("backward", "ortho", "forward")
_REDUCES = ("sum", "prod", "mean", "amax", "amin")
#: The texts that a parameter takes, by the ends of full names of functions and classes. A name that ends in `*` stands
#: for those that begin so.
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "torch.nn.functional.kl_div": {"reduction": (*_REDUCTIONS, "batchmean")},
    "torch.nn.KLDivLoss": {"reduction": (*_REDUCTIONS, "batchmean")},
    "torch.nn.functional.*_loss": {"reduction": _REDUCTIONS},
    "torch.nn.functional.cross_entropy": {"reduction": _REDUCTIONS},
    "torch.nn.functional.binary_cross_entropy*": {"reduction": _REDUCTIONS},
    "torch.nn.*Loss": {"reduction": _REDUCTIONS},
    "torch.nn.Conv*": {"padding": ("same", "valid"), "padding_mode": _PADDINGS},
    "torch.nn.functional.conv?d": {"padding": ("same", "valid")},
    "torch.nn.functional.pad": {"mode": ("constant", "reflect", "replicate", "circular")},
    "torch.nn.functional.grid_sample": {
        "mode": ("bilinear", "nearest", "bicubic"),
        "padding_mode": ("zeros", "border", "reflection"),
    },
    "torch.nn.functional.gelu": {"approximate": ("none", "tanh")},
    "torch.nn.functional.embedding_bag": {"mode": ("sum", "mean", "max")},
    "torch.nn.RNN": {"nonlinearity": ("tanh", "relu")},
    "torch.nn.Transformer*Layer": {"activation": ("relu", "gelu")},
    "torch.nn.init.kaiming_*": {"mode": ("fan_in", "fan_out")},
    "torch.meshgrid": {"indexing": ("ij", "xy")},
    "torch.fft.*": {"norm": _NORMS},
    "torch.div": {"rounding_mode": ("trunc", "floor")},
    "Tensor.scatter_reduce*": {"reduce": _REDUCES},
    "torch.searchsorted": {"side": ("left", "right")},
    "torch.optim.lr_scheduler.ReduceLROnPlateau": {"mode": ("min", "max"), "threshold_mode": ("rel", "abs")},
    "torch.optim.lr_scheduler.OneCycleLR": {"anneal_strategy": ("cos", "linear")},
}
#: Names that the patterns above reach, whose parameter is another one.
_OTHERS = frozenset(("torch.nn.functional.ctc_loss", "torch.nn.functional.fold"))
_POOLS = tuple(f"max_pool{n}d" for n in (1, 2, 3)) + tuple(f"MaxPool{n}d" for n in (1, 2, 3))


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A text or number that torch refuses, with the texts that it takes instead.

    `is_raised_here`: the call raises; a layer raises it when it is called.
    """

    place: Place
    name: str
    parameter: str
    text: str
    allowed: tuple[str, ...]
    message: str
    evidence: str
    advice: str
    is_raised_here: bool


def refused_values(call: queries.Call) -> RefusedValue | None:
    """The first argument of a call of torch whose text or number is none that it takes; None if there is none."""
    is_text = any(one.op is Op.CONST and isinstance(one.data, str) for one in call.value.args)
    if not is_text and not str(call.value.callee.data).endswith(_POOLS):
        return None
    parameters = queries.torch_parameters(call)
    if parameters is None:
        return None
    name, names = parameters
    for parameter, allowed in texts(name).items():
        if parameter in names:
            given = call.argument(names.index(parameter), parameter)
            value = None if given is None else given.value
            if given is None or value is None or value.op is not Op.CONST or not isinstance(value.data, str):
                continue
            if value.data not in allowed:
                listed = ", ".join(f'`"{one}"`' for one in allowed)
                return RefusedValue(
                    given.place_of_use or call.place,
                    name,
                    parameter,
                    value.data,
                    allowed,
                    f'`{_short(name)}` takes no `{parameter}` called `"{value.data}"`',
                    f"`{parameter}` is one of {listed}",
                    f"pass one of {listed}",
                    _raises_at_once(name, parameter),
                )
    return _wide_padding(call, name, names)


def texts(name: str) -> dict[str, tuple[str, ...]]:
    """The texts that the parameters of a function or class take, by its full name."""
    from fnmatch import fnmatchcase

    if name in _OTHERS:
        return {}
    return next((found for pattern, found in TEXTS.items() if fnmatchcase(name, pattern)), {})


def _raises_at_once(name: str, parameter: str) -> bool:
    return not (name.endswith("Loss") and parameter == "reduction")


def _wide_padding(call: queries.Call, name: str, names: tuple[str, ...]) -> RefusedValue | None:
    """The padding of a max pooling that is more than half of its kernel."""
    if not name.endswith(_POOLS) or "padding" not in names:
        return None
    given = {one: call.argument(names.index(one), one) for one in ("kernel_size", "padding", "dilation")}
    kernels, paddings, dilations = (_wholes(given[one]) for one in ("kernel_size", "padding", "dilation"))
    if given["dilation"] is None and not call.value.has_unpacking:
        dilations = (1,)
    if not kernels or not paddings or not dilations:
        return None
    count = max(len(kernels), len(paddings), len(dilations))
    sides = (one * count if len(one) == 1 else one for one in (kernels, paddings, dilations))
    wide = [one for one in zip(*sides, strict=False) if one[1] * 2 > (one[0] - 1) * one[2] + 1]
    if not wide:
        return None
    kernel, padding, dilation = wide[0]
    at = given["padding"]
    return RefusedValue(
        (at.place_of_use if at is not None else None) or call.place,
        name,
        "padding",
        "",
        (),
        f"`{_short(name)}` takes no padding of {padding} with a kernel of {kernel}",
        "the padding of a pooling is at most half of its kernel",
        f"pad at most {((kernel - 1) * dilation + 1) // 2}",
        not name.startswith("torch.nn.MaxPool"),
    )


def _wholes(operand: queries.Operand | None) -> tuple[int, ...]:
    """A whole number, or those of a tuple, one for each dimension; empty for anything else."""
    if operand is None:
        return ()
    parts = operand.value.args if operand.value.op is Op.TUPLE else (operand.value,)
    numbers = [part.data for part in parts if part.op is Op.CONST and type(part.data) is int]
    return tuple(numbers) if len(numbers) == len(parts) else ()


def _short(name: str) -> str:
    return name.replace("torch.nn.functional.", "F.").replace("torch.nn.", "nn.").removeprefix("Tensor.")
