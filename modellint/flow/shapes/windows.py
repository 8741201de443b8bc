"""Shapes of convolutions, pools, paddings and images of another size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.shapes.shape import (
    ANY,
    ANY_STAR,
    ONE,
    Dim,
    Refused,
    Shape,
    Star,
    differ,
    is_of_input,
    limit,
    of_rank,
    unknown,
)
from modellint.graph.size import Size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.flow.shapes.call import Call, Result

_TWO, _ZERO = Size.of(2), Size.of(0)


def numbers(call: Call, position: int, name: str) -> list[Dim] | Dim | None:
    """An argument that is one number, or a tuple of so many; None if it is not known how many."""
    given = call.many(position, name)
    if given is None or isinstance(given, Dim):
        return given
    if any(isinstance(one, Star) for one in given):
        return None
    return [one if isinstance(one, Dim) else ANY for one in given]


def _each(call: Call, facet: str, count: int, default: int | None) -> list[Size | None]:
    """A number for each spatial dimension; None where it is not known."""
    argument = call.row.argument(facet)
    if argument is None or not call.is_given(*argument):
        return [None if default is None else Size.of(default)] * count
    given = numbers(call, *argument)
    if isinstance(given, Dim):
        return [given.size] * count
    if given is None or len(given) not in (1, count):
        return [None] * count
    sizes = [one.size for one in given]
    return sizes * count if len(sizes) == 1 else sizes


def result(call: Call, shape: Shape | None) -> Result:
    """A convolution or a pool: channels are replaced or kept, each spatial dimension becomes shorter."""
    count = int(call.row.facets["window"])
    if "pads-grid" in call.row.facets:
        return _padded_grid(call, shape, count)
    if shape is None:
        shape = unknown(None)
    shape = _with_ends(shape, count + 1 if "ranks" in call.row.facets else count)
    ends = shape.head if shape.star is None else shape.tail
    channels = _channels(call, shape, ends, count)
    spatial = _spatial(call, ends[len(ends) - count :], count)
    batch = ends[: len(ends) - count]
    if "columns" in call.row.facets:
        return _columns(call, shape, batch, spatial)
    own = (*(batch if channels is None else (*batch[:-1], channels)), *spatial)
    found = Shape(own) if shape.star is None else Shape(shape.head, shape.star, own)
    indices = call.row.argument("indices")
    if indices is None:
        return found
    is_pair = call.flag(*indices)
    return None if is_pair is None else [found, found] if is_pair else found


def _columns(call: Call, shape: Shape, batch: tuple[Dim, ...], spatial: tuple[Dim, ...]) -> Shape:
    """`F.unfold`: `[N, C, H, W]` becomes `[N, C * kernel, places]`."""
    width, places = batch[-1].size, Shape(spatial).elements()
    for kernel in _each(call, "kernel", len(spatial), None):
        width = None if width is None or kernel is None else limit(width * kernel)
    own = (*batch[:-1], Dim(width), Dim(places))
    return Shape(own) if shape.star is None else Shape(shape.head, shape.star, own)


def _with_ends(shape: Shape, count: int) -> Shape:
    """A shape that has so many dimensions, at the end of what is known of it. Raises `Refused`."""
    if shape.star is None:
        if len(shape.head) < count:
            raise Refused("rank", shape, count)
        return shape
    if len(shape.tail) >= count:
        return shape
    return Shape((), ANY_STAR, (*((ANY,) * (count - len(shape.tail))), *shape.tail))


def _channels(call: Call, shape: Shape, ends: Sequence[Dim], count: int) -> Dim | None:
    """The channels that a convolution makes; None for a pool. Raises `Refused` if it takes others."""
    groups = call.row.argument("groups")
    group = call.size(*groups) if groups is not None and call.is_given(*groups) else Dim(ONE)
    facet = next((one for one in ("convolves", "deconvolves") if one in call.row.facets), None)
    if facet is not None:
        taken, made = (
            (int(part.partition("@")[2]), part.partition("@")[0]) for part in call.row.facets[facet].split(",")
        )
        wanted, channels = call.size(*taken), call.size(*made)
        for dim in (wanted, channels):
            if not _can_divide(dim, group):
                raise Refused("groups", dim, group)
    elif "weighs" in call.row.facets:
        is_up = "upward" in call.row.facets
        weight = call.tensor(*(call.row.argument("weighs") or (0, "")))
        if weight is None:
            return ANY
        weight = of_rank(weight, count + 2)
        one, other = weight.head[:2]
        wanted, channels = (one, _times(other, group)) if is_up else (_times(other, group), one)
        if not _can_divide(one, group):
            raise Refused("groups", one, group)
        bias = call.row.argument("bias")
        added = None if bias is None else call.tensor(*bias)
        if added is not None and (added.rank not in (None, 1) or _differ_at(added, channels)):
            raise Refused("bias", added, channels)
    elif "makes-channels" in call.row.facets:
        return call.size(*(call.row.argument("makes-channels") or (0, "")))
    else:
        return None
    compare(call, shape, -count - 1, wanted, "channels")
    return channels


def compare(call: Call, shape: Shape, place: int, wanted: Dim, kind: str) -> None:
    """Compare a dimension of a layer's input with the size that the layer takes.

    Raises `Refused` if they certainly differ; what may differ is doubted.
    """
    dim = shape.at(place)
    if call.takes is not None:
        call.takes(dim, wanted)
    given, taken = dim.size, wanted.size
    if taken is None or given == taken:
        return
    if given is not None:
        refused = Refused(kind, shape, wanted, given)
        if differ(given, taken):
            raise refused
        if not any(map(is_of_input, given.symbols)):
            call.doubt(refused)
    call.taken.append((dim, place, Refused(kind, shape.with_dim(place, wanted), wanted)))


def _differ_at(bias: Shape, channels: Dim) -> bool:
    return bias.rank == 1 and differ(bias.head[0].size, channels.size)


def _times(one: Dim, other: Dim) -> Dim:
    return ANY if one.size is None or other.size is None else Dim(limit(one.size * other.size))


def _can_divide(dim: Dim, by: Dim) -> bool:
    """False if both are numbers, and one does not divide the other."""
    number, divisor = (None if one.size is None else one.size.constant for one in (dim, by))
    return number is None or not divisor or number % divisor == 0


def _spatial(call: Call, dims: tuple[Dim, ...], count: int) -> tuple[Dim, ...]:
    facets = call.row.facets
    if "sets" in facets:
        return _set_sizes(call, dims, count)
    if "weighs" in facets:
        weight = call.tensor(*(call.row.argument("weighs") or (0, "")))
        kernels = [None] * count if weight is None or weight.rank != count + 2 else [d.size for d in weight.head[2:]]
    else:
        kernels = _each(call, "kernel", count, None)
    is_up = "deconvolves" in facets or "upward" in facets
    is_pool = not facets.keys() & {"convolves", "deconvolves", "weighs", "makes-channels", "columns"}
    stride = call.row.argument("stride")
    is_strided = stride is not None and call.is_given(*stride)
    strides = kernels if is_pool and not is_strided else _each(call, "stride", count, 1)
    if is_pool and is_strided and call.many(*(stride or (0, ""))) is None:
        strides = [None] * count
    dilations = _each(call, "dilation", count, 1)
    padding = call.row.argument("padding")
    word = call.text(*padding) if padding is not None and call.is_given(*padding) else None
    if word == "same":
        if any(differ(one, ONE) for one in strides):
            raise Refused("stride", "same", [str(one) for one in strides])
        return dims
    paddings: list[Size | None] = [_ZERO] * count if word == "valid" else _each(call, "padding", count, 0)
    ceil = call.row.argument("ceil")
    rounds_up = call.flag(*ceil) if ceil is not None else False
    more = _each(call, "output-padding", count, 0)
    found = []
    for dim, kernel, step, pad, dilation, extra in zip(dims, kernels, strides, paddings, dilations, more, strict=True):
        size = _window(dim.size, kernel, step, pad, dilation, extra, is_up=is_up, rounds_up=rounds_up)
        number = None if size is None else size.constant
        if number is not None and number < (0 if is_up else 1):
            raise Refused("window", Shape(dims), kernel)
        found.append(Dim(limit(size)))
    return tuple(found)


def _window(
    size: Size | None,
    kernel: Size | None,
    stride: Size | None,
    padding: Size | None,
    dilation: Size | None,
    extra: Size | None,
    *,
    is_up: bool,
    rounds_up: bool | None,
) -> Size | None:
    """The length of one dimension of a convolution's or pool's result."""
    if size is None or kernel is None or stride is None or padding is None or dilation is None or extra is None:
        return None
    reach = dilation * (kernel - ONE)
    if is_up:
        return (size - ONE) * stride - _TWO * padding + reach + extra + ONE
    if stride.constant == 0 or rounds_up is None:
        return None
    span = size + _TWO * padding - reach - ONE
    if not rounds_up:
        return span.floor(stride) + ONE
    whole, length, step, pad = (one.constant for one in (span, size, stride, padding))
    if whole is None or length is None or step is None or pad is None:
        return None
    if whole < 0:
        return None
    count = -(-whole // step) + 1
    return Size.of(count - ((count - 1) * step >= length + pad))  # the last window begins inside of the input


def _set_sizes(call: Call, dims: tuple[Dim, ...], count: int) -> tuple[Dim, ...]:
    """The sizes that an adaptive pool is given; None keeps one."""
    argument = call.row.argument("sets")
    given = None if argument is None else call.many(*argument)
    each = [given] * count if isinstance(given, Dim) else given
    if each is None or any(isinstance(one, Star) for one in each):
        return (ANY,) * count
    if len(each) != count:
        raise Refused("sizes", len(each), count)
    return tuple(one if isinstance(one, Dim) else ANY for one in each)


def _padded_grid(call: Call, shape: Shape | None, count: int) -> Result:
    """`nn.ZeroPad2d(1)`: so much on both sides of each spatial dimension, or pairs from the last one on."""
    if shape is None:
        return None
    given = numbers(call, *(call.row.argument("pads-grid") or (0, "")))
    pads = [given] * (2 * count) if isinstance(given, Dim) else given
    return _of_same_rank(shape) if pads is None or len(pads) != 2 * count else _grow(shape, pads)


def pad(call: Call, shape: Shape | None) -> Result:
    """`F.pad(x, pads)`: pairs from the last dimension on. Raises `Refused` for more pairs than dimensions."""
    argument = call.row.argument("pads-by")
    given = None if argument is None else numbers(call, *argument)
    if shape is None:
        return None
    if given is None or isinstance(given, Dim):
        return _of_same_rank(shape)
    if len(given) % 2:
        raise Refused("pad", shape, len(given))
    return _grow(shape, given)


def _of_same_rank(shape: Shape) -> Shape | None:
    return Shape((ANY,) * len(shape.head)) if shape.star is None else unknown(None)


def _grow(shape: Shape, pads: Sequence[Dim]) -> Shape:
    ends = list(shape.head if shape.star is None else shape.tail)
    count = len(pads) // 2
    if shape.star is None and count > len(ends):
        raise Refused("pad", shape, count)
    is_short = count > len(ends)
    ends = [*([ANY] * (count - len(ends))), *ends]
    for number in range(count):
        place = -1 - number
        sizes = [part.size for part in (ends[place], pads[2 * number], pads[2 * number + 1])]
        if None in sizes:
            ends[place] = ANY
            continue
        grown = sizes[0] + sizes[1] + sizes[2]  # type: ignore[operator]
        if grown.constant is not None and grown.constant < 0:
            raise Refused("pad", shape, [str(pad) for pad in pads])
        ends[place] = ends[place] if grown == ends[place].size else Dim(limit(grown))
    if shape.star is None:
        return Shape(tuple(ends))
    return Shape((), ANY_STAR, tuple(ends)) if is_short else Shape(shape.head, shape.star, tuple(ends))


def resize(call: Call, shape: Shape | None) -> Result:
    """`F.interpolate`, `nn.Upsample`: the dimensions from 2 on are set, or multiplied by a whole number."""
    if shape is None:
        return None
    size, scale = (
        (int(part.partition("@")[2]), part.partition("@")[0]) for part in call.row.facets["resizes"].split(",")
    )
    if shape.star is not None:
        return Shape(shape.head[:2], ANY_STAR)
    count = len(shape.head) - 2
    if count not in (1, 2, 3):
        raise Refused("rank", shape, "3 to 5")
    is_size, is_scale = call.is_given(*size), call.is_given(*scale)
    if is_size and is_scale:  # one of them may be None
        return Shape((*shape.head[:2], *((ANY,) * count)))
    given = numbers(call, *(size if is_size else scale))
    if given is None:
        return Shape((*shape.head[:2], *((ANY,) * count)))
    each = [given] * count if isinstance(given, Dim) else given
    if len(each) != count:
        raise Refused("sizes", shape, len(each))
    dims = each if is_size else [_times(dim, factor) for dim, factor in zip(shape.head[2:], each, strict=True)]
    return Shape((*shape.head[:2], *dims))


def shuffle(call: Call, shape: Shape | None) -> Result:
    """`nn.PixelShuffle(r)`: `[*, c * r², h, w]` becomes `[*, c, h * r, w * r]`."""
    return _shuffle(call.size(*(call.row.argument("shuffles") or (0, ""))), shape, is_up=True)


def unshuffle(call: Call, shape: Shape | None) -> Result:
    """`nn.PixelUnshuffle(r)`: `[*, c, h * r, w * r]` becomes `[*, c * r², h, w]`."""
    return _shuffle(call.size(*(call.row.argument("unshuffles") or (0, ""))), shape, is_up=False)


def _shuffle(factor: Dim, shape: Shape | None, *, is_up: bool) -> Result:
    if shape is None:
        return None
    shape = _with_ends(shape, 3)
    ends = shape.head if shape.star is None else shape.tail
    dims = []
    for number, dim in enumerate(ends[-3:]):
        by = _times(factor, factor) if number == 0 else factor
        if (number == 0) is not is_up:
            dims.append(_times(dim, by))
            continue
        if not _can_divide(dim, by):
            raise Refused("shuffle", shape, str(factor))
        is_known = dim.size is not None and by.size is not None and by.size.constant != 0
        found = dim.size.floor(by.size) if is_known else None  # type: ignore[union-attr, arg-type]
        dims.append(Dim(found if found is not None and found * by.size == dim.size else None))  # type: ignore[operator]
    if shape.star is None:
        return Shape((*ends[:-3], *dims))
    return Shape(shape.head, shape.star, (*ends[:-3], *dims))
