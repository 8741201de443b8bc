"""What the table of operators says is what torch and Python do: every facet of every row is tried on small tensors."""

from __future__ import annotations

import contextlib
import inspect
import math
import operator as python
import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from modellint import operators
from modellint.operators.rows import ALSO

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.operators import Operator

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch
from operator_samples import (
    CALLS,
    LAYER,
    LAYERS,
    MODULE_GIVEN,
    WEIGHT,
    Trial,
    a_module,
    numbers,
    owner_class,
    places,
    resolve,
)
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode


def why_not(row: Operator) -> str | None:
    return row.facets.get("unchecked")


# -- what a facet says, as something that is seen -------------------------------------------------------------------


def elements(value: Any) -> set[Any]:
    if isinstance(value, torch.Tensor):
        return set(value.detach().double().flatten().tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return set().union(*(elements(part) for part in value))
    return {value}


def first(trial: Trial) -> Any:
    """The elements of a result that is a pair of elements and ids."""
    return trial.result[0] if trial.row.facets.get("pair") and isinstance(trial.result, tuple) else trial.result


def passed(trial: Trial, value: str) -> bool:
    given = elements(trial.before)
    fill = trial.row.argument("fill")
    if fill is not None:
        given |= elements(trial.args[fill[0] - 1])
    if trial.short in ("gather", "index_select", "take", "take_along_dim"):
        assert elements(trial.result) < given
    result = first(trial)
    return elements(list(result) if trial.of == "builtins" else result) <= given


def drawn(trial: Trial, value: str) -> bool:
    ids = trial.result
    n = 4 if trial.of == "Categorical" else trial.operand.shape[-1]
    if value in ("best", "least") and trial.short.startswith("arg"):
        ids = getattr(trial.operand, trial.short)(-1)
        wanted = trial.operand.amax(-1) if value == "best" else trial.operand.amin(-1)
        assert torch.equal(trial.operand.gather(-1, ids[:, None])[:, 0], wanted)
    return not ids.is_floating_point() and bool(((ids >= 0) & (ids < n)).all())


def pair(trial: Trial, value: str) -> bool:
    args = trial.args or ((-1,) if trial.short in ("max", "min", "median", "mode", "sort") else ())
    values, ids = getattr(trial.operand, trial.short)(*args)
    at = trial.operand.gather(-1, ids if ids.dim() == 2 else ids[:, None]).reshape(values.shape)
    extreme = {"best": trial.operand.amax(-1), "least": trial.operand.amin(-1)}.get(value)
    assert extreme is None or torch.equal(values if values.dim() == 1 else values[:, 0], extreme)
    return torch.equal(at, values) and not ids.is_floating_point()


def real(trial: Trial, value: str) -> bool:
    if value == "likely" or not isinstance(trial.operand, torch.Tensor) or trial.kind == "classes":
        return trial.tensor.is_floating_point()
    try:
        of_whole = first_of(trial.again(trial.operand.long(), trial.args)).is_floating_point()
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        of_whole = True  # refused
    return of_whole and trial.tensor.is_floating_point()


def fill(trial: Trial, value: str) -> bool:
    filler = trial.args[trial.row.argument("fill")[0] - 1]
    others = elements(trial.before) if isinstance(trial.operand, torch.Tensor | list) else set()
    found = elements(trial.result)
    return filler in found and found <= others | {filler}


LIKE = {
    "+": python.add, "-": python.sub, "*": python.mul, "/": python.truediv, "//": python.floordiv, "%": python.mod,
    "**": python.pow, "neg": python.neg, "<": python.lt, "<=": python.le, ">": python.gt, ">=": python.ge,
    "==": python.eq, "!=": python.ne, "~": python.invert, "&": python.and_,
    "1/sqrt": lambda x: x**-0.5, "1/": lambda x: 1 / x,
}  # fmt: skip


def like(trial: Trial, value: str) -> bool:
    if hasattr(math, value):
        return torch.allclose(trial.result, trial.before.double().apply_(getattr(math, value)).float())
    return torch.allclose(trial.result, LIKE[value](trial.before, *trial.args))


def along(trial: Trial, value: str) -> bool:
    name, _, position = value.partition("@")
    before = trial.args[: int(position) - 1] or (2,) * (int(position) - 1)
    results = trial.again(trial.operand, (*before, 0)), getattr(trial.operand, trial.short)(*before, **{name: 0})
    if "pair" in trial.row.facets:
        results = results[0][1], results[1][1]
    is_first = trial.row.facets.keys() & {"pair", "drawn", "sums-up"} or results[0].shape == trial.operand.shape[1:]
    return torch.equal(*results) and bool(is_first) and ("pair" not in trial.row.facets or int(results[0].max()) < 2)


def masked(trial: Trial, value: str) -> bool:
    name, _, position = value.partition("@")
    mask, filler = trial.args[int(position) - 1], trial.args[-1]
    filled = trial.again(trial.operand, (), **{name: mask}, value=filler)
    return torch.equal(filled == filler, mask)


def limits(trial: Trial, kind: str) -> torch.Tensor:
    position = trial.row.argument(kind)[0] - 1
    return torch.as_tensor(trial.args[position])


def joins(trial: Trial, value: str) -> bool:
    return trial.result.shape == (4, 3)


def reduces(trial: Trial, value: str) -> bool:
    along = first_of(getattr(trial.operand, trial.short)(dim=-1))
    return first_of(trial.again(trial.operand, ())).dim() == 0 and along.shape == trial.operand.shape[:-1]


def first_of(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else value[0]


def fresh(trial: Trial, value: str) -> bool:
    function = resolve(trial.row.name)
    given = (trial.operand, *trial.args)
    with torch.device("meta"):
        is_followed = function(*given).is_meta
    assert function(*given).device.type == "cpu"
    return is_followed and function(*given, device="meta").is_meta if value == "default" else not is_followed


def together(trial: Trial, value: str) -> bool:
    """With tensors on two devices it is refused, whichever of them is on the CPU; without a GPU, one is pretended."""
    if value.startswith("strict"):
        is_joined = isinstance(trial.operand, list)
        operand = None if is_joined else _placed(trial.operand, "cuda").float()
        numbers = [torch.zeros((), device="cuda"), torch.zeros(())]
        with pytest.raises(RuntimeError, match=r"(?i)device"):
            trial.again(
                numbers if is_joined else operand, () if is_joined else [torch.tensor(float(a)) for a in trial.args]
            )
        return True
    is_real = torch.cuda.is_available()
    given = trial.operand if isinstance(trial.operand, list) else [trial.operand, *trial.args]
    if "pair" in trial.row.facets:  # of one tensor its largest elements, of two the larger ones
        given = [trial.operand, trial.operand]
    first = next(number for number, one in enumerate(given) if isinstance(one, torch.Tensor))
    for here, there in (("cpu", "cuda"), ("cuda", "cpu")):
        with contextlib.nullcontext() if is_real else FakeTensorMode():
            placed = [_placed(one, here if number == first else there) for number, one in enumerate(given)]
            with pytest.raises(RuntimeError, match=r"(?i)device"):
                _used(trial, placed)
    return True


def _used(trial: Trial, given: list[Any]) -> Any:
    """What an operator gives, or what is drawn of that."""
    # The values of pretended tensors cannot be validated.
    with mock.patch.object(torch.distributions.Distribution, "_validate_args", False):
        found = trial.again(given, ()) if isinstance(trial.operand, list) else trial.again(given[0], given[1:])
        return found.sample() if isinstance(found, torch.distributions.Distribution) else found


def _placed(value: Any, device: str) -> Any:
    """A tensor like another one, which has dimensions, on a device."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.zeros(value.shape or (1,), dtype=value.dtype, device=device)


def subscripts(trial: Trial, value: str) -> bool:
    return trial.result.dim() == len(trial.operand.partition("->")[2])


def moves(trial: Trial, value: str) -> bool:
    if trial.of == "Module":
        return next(trial.operand.to("meta").parameters()).is_meta
    there = {"to": "meta", "type": "torch.cuda.FloatTensor", "type_as": torch.ones(1, device="meta")}[trial.short]
    try:
        return getattr(numbers(), trial.short)(there).is_meta
    except (TypeError, ValueError, RuntimeError) as error:
        return "cuda" in str(error).lower()  # understood as a place, where there is none


def host(trial: Trial, value: str) -> bool:
    if trial.of == "Module":
        return all(not parameter.is_cuda for parameter in trial.result.parameters())
    return not isinstance(trial.result, torch.Tensor) or trial.result.device.type == "cpu"


KINDS = {
    "int": int, "bool": bool, "list": list, "number": (int, float), "size": torch.Size, "tuple": tuple,
    "dtype": torch.dtype, "device": torch.device, "layout": torch.layout,
    "distribution": torch.distributions.Distribution,
}  # fmt: skip


def gives(trial: Trial, value: str) -> bool:
    if value == "tensors":
        return isinstance(trial.result, tuple | list) and all(isinstance(part, torch.Tensor) for part in trial.result)
    return isinstance(trial.result, KINDS[value])


def in_place(trial: Trial, value: str) -> bool:
    name = trial.short.rstrip("_") + "_"
    operand = trial.operand if trial.short.endswith("_") else trial.before
    return trial.result is operand if trial.short.endswith("_") else hasattr(operand, name)


def changes(trial: Trial, value: str) -> bool:
    before, after = trial.before, trial.operand
    return not torch.equal(before, after) if isinstance(after, torch.Tensor) else before != after


def itself(trial: Trial, value: str) -> bool:
    if "wraps" in trial.row.facets:
        layer = prepared(trial.row.name)
        return resolve(trial.row.name)(layer) is layer
    return trial.result is trial.operand


def unchanged(trial: Trial, value: str) -> bool:
    """What an operator gives, it gives back."""
    if trial.kind == "attributes":
        return getattr(trial.result, trial.short) is trial.result
    return trial.again(trial.result, trial.args) is trial.result


def prepared(name: str) -> nn.Module:
    layer = nn.Linear(3, 3)
    if "remove" in name:
        resolve(name.replace("remove_", ""))(layer)
    return layer


def wraps(trial: Trial, value: str) -> bool:
    layer = prepared(trial.row.name)
    weights = {id(weight) for weight in layer.parameters()}
    made = resolve(trial.row.name)(layer)
    return made is layer or bool(weights & {id(weight) for weight in made.parameters()}) or same_weights(made, layer)


def same_weights(made: nn.Module, layer: nn.Module) -> bool:
    return all(
        one.data_ptr() == other.data_ptr() for one, other in zip(made.parameters(), layer.parameters(), strict=True)
    )


def renames(trial: Trial, value: str) -> bool:
    layer = prepared(trial.row.name)
    before = dict(layer.named_parameters()).keys()
    return dict(resolve(trial.row.name)(layer).named_parameters()).keys() != before


def registers(trial: Trial, value: str) -> bool:
    position = trial.row.argument("registers")[0]
    kept = [*trial.operand.children(), *trial.operand.parameters(), *trial.operand.buffers()]
    return any(one is trial.args[position] for one in kept)


def reads(trial: Trial, value: str) -> bool:
    """No layer is called, and what it holds stays."""
    if trial.kind == "attributes":
        return hasattr(owner_class(trial.of), trial.short) or trial.short in inspect.get_annotations(nn.Module)
    if trial.of != "Module":
        return len(held(trial.operand)) == len(held(trial.before))
    owner = a_module()
    calls: list[nn.Module] = []
    owner[0].register_forward_hook(lambda module, *given: calls.append(module))
    given = {**MODULE_GIVEN, "load_state_dict": (owner.state_dict(),)}.get(trial.short, trial.args)
    if trial.short not in ("get_extra_state", "set_extra_state"):  # for subclasses to say
        getattr(owner_class(trial.of), trial.short)(owner, *given)
    return not calls


def held(container: Any) -> list[Any]:
    if isinstance(container, nn.Module):
        return [*container.children(), *container.parameters(recurse=False)]
    return list(container.values()) if isinstance(container, dict) else list(container)


def holds(trial: Trial, value: str) -> bool:
    made = owner_class(trial.short)
    if not value:
        return made is nn.Module
    new = WEIGHT if "Parameter" in trial.short else LAYER
    given = {"a": new} if trial.short.endswith("Dict") else [new]
    one = made(*given) if trial.short == "Sequential" else made(given)
    name = value.partition("@")[0]
    return any(part is new for part in held(one)) and name in inspect.signature(made).parameters


def named(trial: Trial, value: str) -> bool:
    new = WEIGHT if "Parameter" in trial.short else LAYER
    return owner_class(trial.short)(OrderedDict(part=new)).part is new


def adds(trial: Trial, value: str) -> bool:
    new = trial.args[int(value.removeprefix("@")) - 1]
    return any(part is new for part in held(trial.operand))


def extends(trial: Trial, value: str) -> bool:
    more = trial.args[int(value.removeprefix("@")) - 1]
    return all(any(part is new for part in held(trial.operand)) for new in held(more))


def removes(trial: Trial, value: str) -> bool:
    return len(held(trial.operand)) < len(held(trial.before))


def contents(trial: Trial, value: str) -> bool:
    given = held(trial.result) if isinstance(trial.result, dict | nn.ParameterDict) else list(trial.result)
    kept = {id(part) for part in held(trial.operand)}
    return {id(part) for part in given if part is not trial.operand} == kept


def pairs(trial: Trial, value: str) -> bool:
    parts = [pair[-1] for pair in trial.result]
    return [id(part) for part in parts] == [id(part) for part in held(trial.operand)]


def element(trial: Trial, value: str) -> bool:
    if trial.short == "next":
        return trial.result == 3
    return any(
        trial.result is part or trial.result == part for part in (*held(trial.before), *held(trial.operand))
    ) or (isinstance(trial.result, nn.Module | nn.Parameter))


ROUNDED = {"down": [2, 2, 3], "nearest": [2, 3, 3], "up": [3, 3, 3]}


def rounds(trial: Trial, value: str) -> bool:
    numbers = [2.4, 2.6, 3.0]
    is_tensors = trial.of in ("torch", "Tensor")
    one_by_one = [trial.again(torch.tensor(one) if is_tensors else one, ()) for one in numbers]
    return [float(one) for one in one_by_one] == ROUNDED[value]


def root(trial: Trial, value: str) -> bool:
    return [float(trial.again(number, ())) for number in (4, 9, 100)] == [2.0, 3.0, 10.0]


def scaled(trial: Trial, value: str) -> bool:
    """A sum of products: twice as much of one gives twice as much."""
    twice = trial.again(trial.operand * 2, trial.args), trial.again(trial.operand, (trial.args[0] * 2,))
    return all(torch.equal(one, trial.result * 2) for one in twice)


def refuses(trial: Trial, value: str) -> bool:
    """An id behind the last row is an error, and so is a negative one that does not count from the end."""
    position, _name = trial.row.argument("ids")
    for number in (10,) if "from-end" in trial.row.facets else (10, -1):
        given, args = torch.tensor([[number, 0]]), trial.args
        if position:
            beyond = torch.full_like(trial.args[position - 1], number)
            given, args = trial.operand, (*trial.args[: position - 1], beyond, *trial.args[position:])
        with pytest.raises((IndexError, RuntimeError)):
            trial.again(given, args)
    return True


def from_end(trial: Trial, value: str) -> bool:
    """-1 picks what the last number does."""
    position, _name = trial.row.argument("ids")
    before, after = trial.args[: position - 1], trial.args[position:]
    last = torch.full_like(trial.args[position - 1], trial.operand.numel() - 1)
    given = (trial.again(trial.operand, (*before, ids, *after)) for ids in (torch.full_like(last, -1), last))
    return torch.equal(*given)


def table(trial: Trial, value: str) -> bool:
    with pytest.raises((IndexError, RuntimeError)):
        resolve(trial.row.name)(10, 3)(torch.tensor([[10]]))
    return True


def judges(trial: Trial, value: str) -> bool:
    """A class that there is no score for is an error, unless it is the one that is ignored."""
    scores, ignored = torch.randn(2, 3).log_softmax(-1), trial.row.argument("ignores")
    loss: Any = resolve(trial.row.name)
    is_layer = isinstance(loss, type)
    assert ignored is not None
    for outside in (-1, 3):
        targets = torch.tensor([0, outside])
        with pytest.raises((IndexError, RuntimeError)):
            (loss() if is_layer else loss)(scores, targets)
        given = {ignored[1]: outside}
        assert (loss(**given)(scores, targets) if is_layer else loss(scores, targets, **given)).isfinite()
    return value == "target@1"


def ignores(trial: Trial, value: str) -> bool:
    """Where a loss is told which class to ignore, which is -100 otherwise."""
    name, _, position = value.partition("@")
    parameters = [one for one in inspect.signature(resolve(trial.row.name)).parameters.values() if one.name != "self"]
    return parameters[int(position)].name == name and parameters[int(position)].default == -100


def in_constructor(trial: Trial, value: str) -> bool:
    name, _, position = value.partition("@")
    signature = inspect.signature(resolve(trial.row.name).__init__)
    names = [parameter for parameter in signature.parameters if parameter not in ("self", "args")]
    # Recurrent layers pass theirs on to a common base.
    return names[int(position)] == name if names and names[0] != "kwargs" else takes_recurrent(trial, name)


def takes_recurrent(trial: Trial, name: str) -> bool:
    return getattr(resolve(trial.row.name)(input_size=3, hidden_size=5), name) in (3, 5)


def width(trial: Trial, value: str, *, dim: int, given: bool) -> bool:
    _name, _, position = value.partition("@")
    wanted = LAYERS[trial.short][int(position)]
    return in_constructor(trial, value) and (trial.operand if given else trial.tensor).shape[dim] == wanted


def no_gradients(trial: Trial, value: str) -> bool:
    function = resolve(trial.row.name)
    with function(*([False] if "set" in trial.short else [])):
        return not (torch.ones(1, requires_grad=True) * 2).requires_grad


def kept(trial: Trial, value: str) -> bool:
    module, made = nn.Module(), resolve(trial.row.name)
    module.it = made(torch.ones(1)) if "Uninitialized" not in trial.short else made()
    return "it" in (module._parameters if "trained" in trial.row.facets else module._buffers)


def in_dtype(trial: Trial, value: str) -> bool:
    result = trial.result if isinstance(trial.result, torch.Tensor) else first_of(trial.result)
    return result.dtype is getattr(torch, value)


def casts(trial: Trial, value: str) -> bool:
    if trial.of == "Module":
        name = trial.short
        changed = getattr(nn.Linear(2, 2).double() if name == "float" else nn.Linear(2, 2), name)(*trial.args)
        return changed.weight.dtype is not (torch.float64 if name == "float" else torch.float32)
    kinds = {"float": trial.result.is_floating_point(), "integer": not trial.result.is_floating_point()}
    return kinds.get(value, True) and torch.equal(trial.result.double(), trial.operand.double())


def periodic(trial: Trial, _value: str) -> bool:
    """Whether an operator gives the same for an angle, its last argument, that is 2π more."""
    *others, angle = (part.double() for part in (trial.before, *trial.args))
    first, *rest = *others, angle
    turned, *after = *others, angle + 2 * math.pi
    return torch.allclose(trial.again(first, tuple(rest)), trial.again(turned, tuple(after)))


def by_mode(trial: Trial, value: str) -> bool:
    """True if a layer gives other results in training than in evaluation, but not if the argument switches that off."""
    name, _, position = value.partition("@")
    cls = resolve(trial.row.name)
    assert list(inspect.signature(cls).parameters)[int(position)] == name
    needed = (8, 2) if trial.short.startswith("Transformer") else () if "ropout" in trial.short else (8,)
    shape = (8, 8, *[3] * {"1": 1, "2": 2, "3": 3}.get(trial.short.rstrip("d")[-1], 0))
    given = [torch.rand(shape)] * (2 if trial.short == "TransformerDecoderLayer" else 1)

    def differs(**settings: object) -> bool:
        layer = cls(*needed, **settings)
        return not torch.equal(layer.train()(*given), layer.eval()(*given))

    return differs() and not differs(**{name: False if trial.short.startswith(("Batch", "Sync")) else 0.0})


def resampled(trial: Trial, value: str) -> bool:
    return trial.again(torch.rand(1, 1, 4, 4), ((2, 2),)).shape[-2:] == (2, 2)


#: How each facet is seen; all that is behind its colon comes as the second argument.
CHECKS: dict[str, Callable[[Trial, str], bool]] = {
    "passed": passed,
    "picked": lambda trial, _: elements(first(trial)) <= elements(trial.before),
    "drawn": drawn,
    "pair": pair,
    "zeroes": lambda trial, _: elements(trial.result) <= elements(trial.before) | {0},
    "one-hot": lambda trial, _: elements(trial.result) == {0, 1} and elements(trial.result.sum(-1)) == {1},
    "sums-up": lambda trial, _: torch.equal(trial.result[:, -1], numbers().sum(-1)),
    "random": lambda trial, _: elements(trial.result) <= set(range(CALLS["randint"][0])),
    "along": along,
    "mask": masked,
    "counted": lambda trial, _: list(map(int, trial.result)) == list(range(5)),
    "real": real,
    "constant": lambda trial, value: elements(trial.result) == {float(value)},
    "fill": fill,
    "limit": lambda trial, _: bool((trial.result <= limits(trial, "limit")).all()),
    "below": lambda trial, _: bool((trial.result < limits(trial, "below")).all()),
    "lift": lambda trial, _: bool((trial.result >= limits(trial, "lift")).all()),
    "literal": lambda trial, _: elements(trial.result) == {7, 8},
    "like": like,
    "chooses": lambda trial, _: elements(trial.result) <= elements(trial.before) | elements(trial.args[-1]),
    "scores": lambda trial, _: (
        torch.equal(first_of(trial.again(trial.operand, (-1,))).argmax(-1), trial.operand.argmax(-1))
        or trial.short == "gumbel_softmax"
    ),  # up to its noise
    "product": scaled,
    "root": root,
    "rounds": rounds,
    "extreme": lambda trial, _: elements(trial.result) <= elements(trial.operand) | elements(trial.args),
    "largest": lambda trial, _: max(elements(first(trial))) == max(elements(trial.operand) | elements(trial.args)),
    "counts": lambda trial, _: (
        trial.result in (trial.operand.shape, trial.operand.numel())
        if isinstance(trial.operand, torch.Tensor)
        else trial.result == 2
    ),
    "ids": refuses,
    "from-end": from_end,
    "judges": judges,
    "ignores": ignores,
    "table": table,
    "padding": in_constructor,
    "same-shape": lambda trial, _: first_of(trial.result).shape == trial.operand.shape,
    "sizes": lambda trial, _: (
        trial.result.shape == torch.Size(trial.args if trial.short in ("view", "expand") else trial.args[0])
    ),
    "repeats": lambda trial, _: trial.result.numel() in (12, 24),
    "flat": lambda trial, _: trial.result.dim() == 1,
    "spaced": lambda trial, _: len(trial.result) == 5 and bool((trial.result.diff() > 0).all()),
    "same-number": lambda trial, _: trial.result == trial.operand,
    "periodic": periodic,
    "smallest": lambda trial, _: min(elements(first(trial))) == min(elements(trial.operand) | elements(trial.args)),
    "squeezes": lambda trial, _: 1 not in trial.result.shape,
    "unsqueezes": lambda trial, _: trial.result.dim() == numbers().dim() + 1,
    "flattens": lambda trial, _: trial.result.dim() == 1,
    "reorders": lambda trial, _: trial.result.dim() == 2 and elements(trial.result) == elements(trial.before),
    "reduces": reduces,
    "single": lambda trial, _: trial.result.dim() == 0,
    "stacks": lambda trial, _: trial.result.dim() == 3,
    "joins": joins,
    "parts": lambda trial, _: all(part.dim() == trial.operand.dim() for part in trial.result),
    "spreads": lambda trial, _: trial.result.shape == (trial.operand.numel(), trial.args[0].numel()),
    "narrows": lambda trial, _: trial.result.numel() < trial.operand.numel(),
    "subscripts": subscripts,
    "grows": lambda trial, _: trial.result.numel() > numbers().numel(),
    "sized": lambda trial, _: (
        (resolve(trial.row.name)(2, 3) if trial.kind == "classes" else trial.result).shape == (2, 3)
    ),
    "width": lambda trial, value: width(trial, value, dim=-1, given=True),
    "own-width": lambda trial, value: width(trial, value, dim=-1, given=True),
    "state-width": lambda trial, value: width(trial, value, dim=-1, given=False),
    "makes-width": lambda trial, value: width(trial, value, dim=-1, given=False),
    "channels": lambda trial, value: width(trial, value, dim=1, given=True),
    "makes-channels": lambda trial, value: width(trial, value, dim=1, given=False),
    "recurrent": lambda trial, _: first_of(trial.result[1]).is_floating_point(),
    "resamples": resampled,
    "dtype": in_dtype,
    "casts": casts,
    "type": lambda trial, value: (resolve(trial.row.name).is_floating_point) is (value == "float"),
    "fresh": fresh,
    "together": together,
    "moves": moves,
    "host": host,
    "gives": gives,
    "distribution": lambda trial, _: isinstance(resolve(trial.row.name)(torch.ones(3)).sample(), torch.Tensor),
    "in-place": in_place,
    "changes": changes,
    "itself": itself,
    "unchanged": unchanged,
    "makes": lambda trial, _: isinstance(trial.result, torch.Tensor) and trial.result is not trial.operand,
    "no-gradients": no_gradients,
    "wraps": wraps,
    "weight-norm": renames,
    "spectral-norm": renames,
    "builds": lambda trial, _: isinstance(resolve(trial.row.name)(nn.Linear, 2, 3), nn.Linear),
    "registers": registers,
    "hooks": reads,
    "parameters": lambda trial, _: len(list(trial.result)) == 2,
    "reads": reads,
    "holds": holds,
    "named": named,
    "by-mode": by_mode,
    "trained": kept,
    "kept": kept,
    "adds": adds,
    "extends": extends,
    "removes": removes,
    "contents": contents,
    "pairs": pairs,
    "element": element,
    "gathers": lambda trial, _: trial.result is not trial.operand,
    "copies": lambda trial, _: trial.result is not trial.operand and trial.result == trial.operand,
    "number": lambda trial, _: isinstance(trial.result, int | float),
    "looks": lambda trial, _: trial.before == trial.operand,
}

#: Facets that make their own call, since ours would say nothing.
OWN_CALL = ("wraps", "weight-norm", "spectral-norm", "builds", "no-gradients", "holds", "named", "trained", "kept",
            "type", "distribution", "by-mode", "table", "padding", "judges", "ignores")  # fmt: skip


def trial_of(row: Operator, kind: str, of: str, facet: str) -> Trial:
    makes_own = (
        facet in OWN_CALL
        or (facet == "itself" and "wraps" in row.facets)
        or (facet in ("reads", "hooks") and of == "Module")
    )
    return Trial(row, kind, of, runs=not makes_own)


def tried(facet: str) -> tuple[list[str], list[str]]:
    """The rows for which a facet was seen, and those for which something else was."""
    seen, otherwise = [], []
    for row, kind, of in places():
        for key, value in row.facets.items() if why_not(row) is None else ():
            mine = f"{key}:{value}"
            if key != facet or (value.endswith("GPU") and not torch.cuda.is_available()):
                continue
            try:
                found = CHECKS[facet](trial_of(row, kind, of, facet), value)
            except Exception as error:
                otherwise.append(f"{row.name} ({mine}): {type(error).__name__}: {error}"[:200])
            else:
                (seen if found else otherwise).append(row.name if found else f"{row.name} ({mine})")
    return seen, otherwise


FACETS = sorted({facet for row in operators.rows() for facet in row.facets} - {"unchecked"})


@pytest.mark.dear
@pytest.mark.parametrize("facet", FACETS)
def test_what_a_facet_says_is_seen(facet: str) -> None:
    seen, otherwise = tried(facet)
    assert otherwise == []
    assert seen
    print(f"{facet}: {len(seen)} rows")


def is_found(row: Operator, kind: str, of: str) -> bool:
    if why_not(row) in ("numpy", "einops", "torchvision", "Pillow", "transformers") or (
        of == "Module" and kind == "attributes"
    ):
        return True  # the latter are annotated, or seen as the facet `reads`
    try:
        if kind in ("methods", "attributes") and not of.startswith("torch"):
            return getattr(owner_class(of), row.name.rpartition(".")[2], None) is not None
        return resolve(row.name) is not None
    except (AttributeError, ImportError):
        return False


def test_each_name_is_one_of_torch_or_python() -> None:
    assert [row.name for row, kind, of in places() if not is_found(row, kind, of)] == []


def test_an_argument_that_a_row_names_can_be_given_by_that_name() -> None:
    kinds = ("fill", "limit", "below", "lift", "ids")
    failed = []
    for row, kind, of in places():
        for name in kinds if why_not(row) is None and kind in ("functions", "methods") else ():
            if row.argument(name) is None:
                continue
            by_place = Trial(row, kind, of)
            try:
                by_name = Trial(row, kind, of, keyword=name)
            except TypeError as error:
                failed.append(f"{row.name}: {error}"[:200])
                continue
            assert torch.equal(by_place.result, by_name.result), row.name
    assert failed == []


def test_what_is_not_said_to_move_stays_where_its_operand_is() -> None:
    moved, count = [], 0
    silent = ("fresh", "moves", "host", "gives", "unchecked", "no-gradients", "wraps")
    for row, kind, of in places():
        is_tensors = of == "Tensor" or (of in ("torch", "torch.nn.functional") and kind == "functions")
        if not is_tensors or any(row.facets.get(key) is not None for key in silent):
            continue
        try:
            trial = Trial(row, kind, of, device="meta")
        except (NotImplementedError, RuntimeError):
            continue  # its result depends on the values
        if isinstance(trial.operand, torch.Tensor):
            count += 1
            if not first_of(trial.result).is_meta:
                moved.append(row.name)
    assert moved == []
    assert count > 100


def test_every_facet_is_seen_or_says_why_not() -> None:
    rows = list(operators.rows())
    facets = [facet for row in rows for facet in row.facets if facet != "unchecked"]
    unchecked = {row.name: row.facets.get("unchecked") for row in rows if why_not(row) is not None}
    print(f"{len(rows)} rows, {len(facets)} facets; not run: {unchecked}")
    assert all(unchecked.values())
    assert set(FACETS) <= CHECKS.keys()


# -- other names of arguments ---------------------------------------------------------------------------------------

_FIRST = torch.tensor([[3.0, 1.0], [2.0, 4.0]])
_CALLED = [
    *(("Tensor", name, argument) for name, (_, argument) in operators.arguments("along", "Tensor").items()),
    *(
        ("torch", full.removeprefix("torch."), argument)
        for full, (_, argument) in operators.arguments("along").items()
        if full.count(".") == 1
    ),
]
#: What is written in Python takes no other names, and `kthvalue` wants more than a dimension.
_OF_PYTHON = frozenset(("norm",))
_MORE = {"kthvalue": {"k": 1}, "topk": {"k": 1}}


@pytest.mark.parametrize(("of", "name", "argument"), [one for one in _CALLED if one[1] not in _OF_PYTHON])
def test_torch_takes_a_dimension_by_each_of_its_names(of: str, name: str, argument: str) -> None:
    def call(spelt: str) -> object:
        given = {spelt: 0, **_MORE.get(name, {})}
        operand = _FIRST > 2 if name in ("all", "any") else _FIRST.clone()
        return getattr(operand, name)(**given) if of == "Tensor" else getattr(torch, name)(operand, **given)

    first, *others = [elements(call(spelt)) for spelt in operators.spellings(argument)]
    assert others == [first]


@pytest.mark.parametrize("name", sorted(ALSO))
def test_torch_takes_an_argument_by_each_of_its_names(name: str) -> None:
    for spelt in operators.spellings(name):
        given = {"input": _FIRST, "other": _FIRST, "dim": 0, "keepdim": True}
        value = given.pop(name)
        if name in ("dim", "keepdim"):
            dim = {} if name == "dim" else {"dim": 0}
            result = torch.sum(_FIRST, **dim, **{spelt: value})
            assert result.shape == (torch.Size([2]) if name == "dim" else torch.Size([1, 2]))
        else:
            rest = {key: given[key] for key in ("input", "other") if key in given}
            assert torch.equal(torch.add(**rest, **{spelt: value}), _FIRST + _FIRST)


def test_what_is_written_in_python_takes_no_other_names() -> None:
    with pytest.raises(TypeError):
        nn.functional.softmax(_FIRST, axis=0)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["cat", "concat", "concatenate"])
def test_what_joins_tensors_takes_the_dimension_by_either_name(name: str) -> None:
    assert all(getattr(torch, name)([_FIRST] * 2, **{spelt: 1}).shape == (2, 4) for spelt in operators.spellings("dim"))
