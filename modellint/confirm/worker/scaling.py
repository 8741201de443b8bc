"""Large models made small: fewer layers, and all widths divided by one number, so that they still fit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import roles

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What is called like a width and counts something else than features: pixels, positions, what a kernel covers.
_NO_WIDTH = re.compile(
    r"image|img|patch|sample|kernel|window|filter|crop|grid|max|pos|stride|batch|chunk|group|block_size"
)
_LAYERS, _LEAST, _PER_HEAD, _WIDE = 2, 32, 4, 64


@dataclass(frozen=True)
class Scale:
    """How much smaller a model is made than its defaults say."""

    divisor: int = 1

    def small(self, name: str, default: Any) -> Any:
        """What stands for the default of a parameter; None if that stays as it is."""
        if isinstance(default, list | tuple) and default:
            parts = [self.small(name, part) for part in default]
            if all(part is None for part in parts):
                return None
            return type(default)(old if new is None else new for old, new in zip(default, parts, strict=True))
        if type(default) is not int:
            return None
        if roles.is_depth(name):
            return _LAYERS if default > _LAYERS else None
        return default // self.divisor if self.divisor > 1 and _is_wide(name, default) else None


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
    heads = max((number for name, number in numbers if roles.is_heads(name)), default=1)
    shared = math.gcd(*(size for _, size in widths))

    def fitting(least: int) -> list[int]:
        """Divisors that leave each width so large; the width of one head is what is left of that of all."""
        return [
            divisor
            for divisor in range(shared, 1, -1)
            if shared % divisor == 0
            and all(size // divisor >= (_PER_HEAD if "head" in name else least) for name, size in widths)
        ]

    found = fitting(max(_LEAST, _PER_HEAD * heads)) or fitting(_LEAST)
    return [*(Scale(divisor) for divisor in found[:2]), Scale()]


def _is_wide(name: str, size: int) -> bool:
    return size >= _WIDE and roles.is_width(name) and not _NO_WIDTH.search(name.lower())
