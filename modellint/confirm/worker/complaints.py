"""Error messages of torch, and of code like it, about shapes: the sizes and dimensions that they ask for."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING

from .specs import BATCH, with_size

if TYPE_CHECKING:
    from .specs import Spec

#: A product of matrices that do not fit: the input's width, and the width that the second matrix asks for.
_PRODUCT = re.compile(r"(?:\(\d+x(\d+) and |\[\d+, (\d+)\] X \[)(\d+)(?:x|, )\d+[\])]")
#: A reshaping into rows of another number of features than there are.
_REFUSED_VIEW = re.compile(r"shape '\[(?:-1|\d+), (\d+)\]' is invalid for input of size (\d+)")
#: Two sizes that must be equal.
_UNEQUAL = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")
#: The number of dimensions that is asked for; of several numbers the last.
_DIMENSIONS = re.compile(
    r"values to unpack \(expected (\d)|[Ee]xpected (\d)(?:D| dims|-dim)|must be a (\d)D|or (\d)D \(batched\)"
    r"|has to be (?:\dD or )?(\d)D|or (\d)-D\b|len\(dims\) = (\d)"
)
#: A convolution whose input has the wrong number of channels.
_OTHER_CHANNELS = re.compile(r"expected input\[([\d, ]+)\] to have (\d+) channels")
#: One dimension of a shape that must have another size.
_ONE_SIZE = re.compile(r"shape\[(\d)\] to be (\d+)")
_SHAPE = re.compile(r"[(\[](\d+(?:, ?\d+)+),?[)\]]")
_GIVEN = re.compile(r"but got input of size: \[([\d, ]+)\]")
#: An input that is shorter than a kernel, a window or a padding.
_TOO_SHORT = re.compile(r"Kernel size can't be greater|[Pp]adding size should be less|too (?:short|small)")
#: Integers that are asked for in place of real numbers.
_INTEGERS = re.compile(r"scalar types?:? (?:Long|Int)\b.*(?:but got|found) (?:torch\.)?Float")
_LONGEST = 400
_LARGEST_SIDE = 600


class Complaint:
    """The shapes that an error asks for."""

    def __init__(self, error: BaseException) -> None:
        self._text = str(error)[:_LONGEST]

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers that may be widths; of a product of matrices just the one that is asked for."""
        product = _PRODUCT.search(self._text)
        found = [product[3]] if product else re.findall(r"\d+", self._text)
        return [int(number) for number in found if 1 <= int(number) <= 100_000]

    @cached_property
    def dimensions(self) -> int | None:
        """The number of dimensions, or of values to unpack, that is asked for; None if the error names none."""
        numbers = [int(part) for parts in _DIMENSIONS.findall(self._text) for part in parts if part]
        return numbers[-1] if numbers else None

    def dimensions_of(self, spec: Spec) -> int | None:
        """The number of dimensions that an error asks of a tensor which the code has reshaped."""
        given = _GIVEN.search(self._text)
        if given is None or self.dimensions is None or not spec.shape:
            return self.dimensions
        return max(1, len(spec.shape) + self.dimensions - len(_sizes(given[1])))

    @cached_property
    def is_of_length(self) -> bool:
        """True if the error says that a sequence is too short."""
        return _TOO_SHORT.search(self._text) is not None

    @cached_property
    def is_of_integers(self) -> bool:
        """True if integers are asked for in place of real numbers."""
        return _INTEGERS.search(self._text) is not None

    def channels(self, spec: Spec) -> int | None:
        """The number of channels asked for, if the error quotes this very input's shape, maybe as a batch of one."""
        found = _OTHER_CHANNELS.search(self._text)
        if found is None or len(spec.sizes) < 3 or _sizes(found[1]) not in (spec.sizes, (1, *spec.sizes)):
            return None
        return int(found[2])

    def shape(self, spec: Spec) -> tuple[int, ...] | None:
        """The shape that an error asks for, where it names the shape of a tensor that was passed."""
        shapes = list(dict.fromkeys(map(_sizes, _SHAPE.findall(self._text))))
        if len(shapes) == 2 and spec.sizes in shapes:
            return next(shape for shape in shapes if shape != spec.sizes)
        return None

    def scaled_shapes(self, spec: Spec, *, is_alone: bool) -> list[tuple[int, ...]]:
        """Shapes with one size multiplied by the ratio of the width that a product asks for to the one that it got.

        It is the last one, if another input can be meant.
        """
        found = _PRODUCT.search(self._text)
        if found is None or len(spec.shape) > 3:
            return []
        given, asked = int(found[1] or found[2]), int(found[3])
        sizes = [*enumerate(spec.shape)][:0:-1][: None if is_alone else 1]
        return [
            with_size(spec.shape, at, size * asked // given)
            for at, size in sizes
            if given % size == 0 and size * asked % given == 0
        ]

    def image_sides(self, spec: Spec) -> list[int]:
        """The sides of square images of which convolutions make as many features as a layer asks for.

        The features are so many channels of a smaller square. Its side changes with that of the image by the stride.
        """
        product, view = _PRODUCT.search(self._text), _REFUSED_VIEW.search(self._text)
        if len(spec.shape) != 4 or spec.shape[2] != spec.shape[3] or (product is None and view is None):
            return []
        if product is not None:
            given, asked = int(product[1] or product[2]), int(product[3])
        else:
            assert view is not None
            given, asked = int(view[2]) // BATCH, int(view[1])
        side, common, found = spec.shape[3], math.gcd(given, asked), list[int]()
        for channels in range(common, 0, -1):
            if common % channels:
                continue
            before, after = math.isqrt(given // channels), math.isqrt(asked // channels)
            is_square = before**2 * channels == given and after**2 * channels == asked
            if is_square and 0 < before <= side:
                stride = 2 ** int(math.log2(side / before))
                found += [side + (after - before) * step for step in (stride, 2 * stride, stride // 2)]
        return [one for one in dict.fromkeys(found) if 0 < one <= _LARGEST_SIDE and one != side]

    def alone(self, spec: Spec) -> list[tuple[int, ...]]:
        """Shapes that are asked for, if no other input than this can be meant."""
        if (found := _ONE_SIZE.search(self._text)) is not None and int(found[1]) < len(spec.shape):
            return [with_size(spec.shape, int(found[1]), int(found[2]))]
        if (found := _UNEQUAL.search(self._text)) is not None:
            pairs = ((int(found[1]), int(found[2])), (int(found[2]), int(found[1])))
            return [
                tuple(new if size == old else size for size in spec.shape) for new, old in pairs if old in spec.shape
            ]
        return []


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))
