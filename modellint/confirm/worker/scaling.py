"""Large models made small: fewer layers, and all widths divided by one number, so that they still fit."""

from __future__ import annotations

import inspect
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Names like widths of numbers that count no features: pixels, positions, a kernel's extent.
_NO_WIDTH = re.compile(
    r"image|img|patch|sample|kernel|window|filter|crop|grid|max|pos|stride|batch|chunk|group|block_size"
)
_INIT = "__init__"
_LAYERS, _LEAST, _PER_HEAD, _WIDE = 2, 32, 4, 64


@dataclass(frozen=True)
class Scale:
    """How much smaller a model is built than by its defaults."""

    divisor: int = 1
    #: The divisor of the number of attention heads: their widths are divided by less then.
    heads: int = 1
    #: True if configurations that the code itself makes are reduced, too.
    reaches_code: bool = False

    def small(self, name: str, default: Any) -> Any:
        """The reduced default of a parameter; None if it stays."""
        if isinstance(default, list | tuple) and default:
            parts = [self.small(name, part) for part in default]
            if all(part is None for part in parts):
                return None
            return type(default)(old if new is None else new for old, new in zip(default, parts, strict=True))
        if type(default) is not int:
            return None
        if roles.is_depth(name):
            return _LAYERS if default > _LAYERS else None
        if roles.is_heads(name):
            return default // self.heads if self.heads > 1 else None
        divisor = self.divisor // self.heads if "head" in name else self.divisor
        return default // divisor if divisor > 1 and _is_wide(name, default) else None


def scales(defaults: Iterable[tuple[str, Any]]) -> list[Scale]:
    """Ways to make a model small whose parameters have certain defaults, the smallest first."""
    numbers = [
        (name, part)
        for name, default in defaults
        for part in (default if isinstance(default, list | tuple) else (default,))
        if type(part) is int
    ]
    widths = [(name, size) for name, size in numbers if _is_wide(name, size)]
    if not widths:
        return [Scale()]
    heads = [number for name, number in numbers if roles.is_heads(name) and number > 0]
    most, common = max(heads, default=1), math.gcd(*heads) or 1
    shared = math.gcd(*(size for _, size in widths))

    def fitting(least: int, by: int = 1) -> list[int]:
        """Divisors that leave each width at least `least`; a head's width is divided by `by` less."""
        return [
            divisor
            for divisor in range(shared, 1, -1)
            if shared % divisor == 0
            and divisor % by == 0
            and all(
                size // (divisor // by) >= _PER_HEAD if "head" in name else size // divisor >= least
                for name, size in widths
            )
        ]

    found = fitting(max(_LEAST, _PER_HEAD * most)) or fitting(_LEAST)
    fewer = fitting(max(_LEAST, _PER_HEAD * most // common), common) if common > 1 else []
    return [*(Scale(divisor) for divisor in found[:2]), *(Scale(divisor, common) for divisor in fewer[:1]), Scale()]


def _is_wide(name: str, size: int) -> bool:
    is_count = roles.is_depth(name) or roles.is_heads(name)
    return size >= _WIDE and roles.is_width(name) and not is_count and not _NO_WIDTH.search(name.lower())


@contextmanager
def noted_configurations(
    classes: Iterable[type], scale: Scale | None, note: Callable[[str, Any, Any], None]
) -> Iterator[None]:
    """Note the numbers of configurations that are made meanwhile, and reduce them if the scale reaches them.

    `note` gets each name with its value and the reduced value, or None.
    """
    reaching = scale if scale is not None and scale.reaches_code else None
    own = {cls: vars(cls).get(_INIT) for cls in classes}
    making: list[object] = []
    for cls in own:
        setattr(cls, _INIT, _noting(getattr(cls, _INIT), reaching, note, making))
    try:
        yield
    finally:
        for cls, init in own.items():
            if init is None:
                delattr(cls, _INIT)
            else:
                setattr(cls, _INIT, init)


def _noting(
    init: Callable[..., None], scale: Scale | None, note: Callable[[str, Any, Any], None], making: list[object]
) -> Callable[..., None]:
    """A constructor that notes its arguments and passes reduced ones on, unless that of a subclass has done so."""
    parameters = [*inspect.signature(init).parameters.values()][1:]
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}

    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        is_first = not any(one is self for one in making)
        making.append(self)
        try:
            if is_first:
                placed = dict(zip((one.name for one in parameters), args, strict=False))
                smaller = {}
                for name, value in {**defaults, **placed, **kwargs}.items():
                    small = None if scale is None else scale.small(name, value)
                    note(name, value, small)
                    if small is not None:
                        smaller[name] = small
                args = tuple(smaller.pop(name, value) for name, value in placed.items()) + args[len(placed) :]
                kwargs = {**kwargs, **smaller}
            init(self, *args, **kwargs)
        finally:
            making.pop()

    return constructor
