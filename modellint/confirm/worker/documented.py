"""Inputs from documentation: shapes that a docstring or an annotation states, and the meaning of their dimensions."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import called, roles
from .specs import BATCH, IMAGE, TIME, Spec, is_small, with_size
from .taken import CALLED_CHANNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .named import Named
    from .taken import Width

_SAYS_IDS = re.compile(r"\b(?:ids?|indices|index|tokens?|codes?|labels?|long|int(?:egers?|64)?)\b")
_SAYS_REAL = re.compile(r"\b(?:float\w*|real|features?|(?:mel_?)?spectrograms?|waveforms?)\b", re.IGNORECASE)
_SAYS_MASK = re.compile(r"\b(?:mask|bool|True)\b")
#: Words in brackets that are no shape.
_REQUIRED = re.compile(r"required|optional|default")
_BATCHES, _TIMES = (
    frozenset(("n", "b", "bs", "batch", "batch_size")),
    frozenset(("t", "l", "s", "time", "seq_len", "seq_length", "sequence_length")),
)
_CHANNELS, _SIDES = frozenset(("c", "ch", "channels")), frozenset(("h", "w", "height", "width"))
_MAX_WIDTHS = 3


class Documentation:
    """The documentation of a function's parameters, with the numbers of its object."""

    def __init__(
        self,
        function: Callable[..., Any],
        tree: ast.FunctionDef | None,
        named: Named,
        widths: Sequence[Width],
        *,
        is_equal: bool,
    ) -> None:
        """With `is_equal`, all unknown sizes are the same."""
        self._tree = tree
        self._text = inspect.getdoc(function) or ""
        self._named = named
        self._widths = widths
        self._is_equal = is_equal
        self._symbols: dict[str, int] = {}

    def of(self, name: str, ids: Callable[[str], list[Spec]]) -> list[Spec]:
        """The tensor that the docstring, or an annotation such as `Float[Tensor, "batch time n"]`, describes."""
        shape, says = self._shape_in_text(name) or self._shape_in_annotation(name) or ("", "")
        dims = [part.lstrip("#") for part in re.split(r"[\s,]+", shape) if part]
        if not dims or not all(re.fullmatch(r"\w+", part) for part in dims):
            return []
        kind = _kind(name, says)
        if kind == "ids":
            return [replace(spec, shape=self._sizes(dims)) for spec in ids(name)[:1]]
        if kind == "float":
            is_real = _SAYS_REAL.search(says) is not None
            has_width = len(dims) > 1 and roles.is_width(dims[-1])
            specs = self.of_dimensions(dims)
            return [replace(spec, is_documented=True, is_real=is_real, has_width=has_width) for spec in specs]
        return [Spec(kind, self._sizes(dims), is_documented=True)]

    def of_dimensions(self, dims: list[str]) -> list[Spec]:
        """Real tensors with named dimensions: `guesses` as far as the sizes are unknown."""
        free = tuple(at for at, name in enumerate(dims) if at and self._stated_size(name, at) is None)
        sizes = self._sizes(dims)
        found = [Spec("float", sizes, free=free)]
        wide = [at for at in free if dims[at].lower() in _CHANNELS] or list(free[-1:])
        for width in list(dict.fromkeys(width.size for width in self._widths))[:_MAX_WIDTHS]:
            found += [Spec("float", with_size(sizes, at, width), free=free) for at in wide]
        sides = [at for at in free if dims[at].lower() in _SIDES or dims[at].startswith("(")]
        large = [
            replace(spec, shape=tuple(IMAGE if at in sides else size for at, size in enumerate(spec.shape)))
            for spec in found
        ]
        return [spec for spec in dict.fromkeys([*found, *large]) if is_small(spec)]

    def calls_int(self, name: str) -> bool:
        """True if the docstring says that a parameter is an `int`."""
        return re.search(rf"\b{re.escape(name)}\s*(?:\(int\b[^()\n]*\)|:\s*int\b)", self._text) is not None

    def calls_relative(self, name: str) -> bool:
        """True if the docstring says that a parameter is relative to something."""
        return re.search(rf"\b{re.escape(name)}\b\s*[:(][^\n]*(?:\n[^\n]*)?\brelative\b", self._text) is not None

    def _shape_in_text(self, name: str) -> tuple[str, str] | None:
        stated = rf"\b{re.escape(name)}\b\s*\([^()\n]*\bshape\b[^()\n]*\(([^()\n]+)\)"
        if (found := re.search(stated, self._text)) is not None:
            return found[1], found[0].rpartition("shape")[0]
        in_brackets = (
            rf"\b{re.escape(name)}\b\s*\([^()\n]*\)\s*:[^()\[\]]{{0,60}}\bshape\b[^()\[\]]{{0,40}}\[([^\[\]\n]+)\]"
        )
        if (found := re.search(in_brackets, self._text)) is not None:
            return found[1], found[0].rpartition("shape")[0].partition(":")[2]
        pattern = rf"\b{re.escape(name)}\b\s*(?:\([^()\n]*\))?\s*:[^();\n]{{0,40}}\(([^()\n]+)\)([^;\n]*)"
        said = re.finditer(pattern, self._text)
        one = next((one for one in said if not _REQUIRED.match(one[1])), None)
        return (one[1], one[0].split(":", 1)[1]) if one else None

    def _shape_in_annotation(self, name: str) -> tuple[str, str] | None:
        arguments = [] if self._tree is None else [*self._tree.args.args, *self._tree.args.kwonlyargs]
        for argument in arguments:
            node = argument.annotation
            if argument.arg == name and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
                last = node.slice.elts[-1]
                if isinstance(last, ast.Constant) and isinstance(last.value, str):
                    return last.value, ast.unparse(node.value).lower()
        return None

    def _sizes(self, dims: list[str]) -> tuple[int, ...]:
        return tuple(self._dimension(name, at) for at, name in enumerate(dims))

    def _dimension(self, name: str, at: int) -> int:
        said = self._stated_size(name, at)
        if said is not None:
            return said
        is_side = name.lower() in _SIDES or name.startswith("(")
        guess = roles.EQUAL_SIZE if is_side or self._is_equal else TIME
        return guess if name == "_" else self._symbols.setdefault(name, guess)

    def _stated_size(self, name: str, at: int) -> int | None:
        """The size of a dimension by its name or the owner's numbers; None if neither tells."""
        lower = name.lower()
        if name.isdigit():
            return int(name)
        if (lower in _BATCHES and not at) or (lower in _BATCHES - {"n"}):
            return BATCH
        if lower in _TIMES or (lower == "n" and at):
            return TIME
        known = self._named.known(name)
        if known is None and lower in _CHANNELS:
            return self._named.first(CALLED_CHANNELS)
        return known


def _kind(name: str, says: str) -> str:
    """The kind of tensor of a parameter, by its documentation `says` and its name."""
    if _SAYS_MASK.search(says) or called.MASK.search(name):
        return "mask"
    if called.POSITIONS.search(name):
        return "positions"
    if _SAYS_IDS.search(says) or called.IDS.search(name):
        return "ids"
    return "float"
