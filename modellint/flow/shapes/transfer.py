"""Transfer functions of operators and of torch's layers on shapes, by the facets of their rows.

`result(call)` gives the shape of a call's result, a list of shapes for a tuple of tensors, None if nothing is known; it
raises `Refused` where torch certainly raises an error.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from modellint.flow.shapes import patterns, windows
from modellint.flow.shapes.shape import (
    ANY,
    ANY_STAR,
    ONE,
    Dim,
    Refused,
    Shape,
    Star,
    agree,
    broadcast,
    cannot_be_one,
    cannot_broadcast,
    common_dim,
    differ,
    expand,
    flatten,
    is_of_input,
    join,
    limit,
    multiply,
    of_rank,
    permute,
    reduce,
    repeat,
    squeeze,
    swap,
    unknown,
    view,
    with_last,
)
from modellint.graph.size import Size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modellint.flow.shapes.call import Call, Result
    from modellint.operators import Operator

#: The most parts of a split that are told apart.
_MAX_PARTS = 16


def result(call: Call) -> Result:
    """The shape of a call's result. Raises `Refused` where torch raises an error."""
    facets = call.row.facets
    shape = call.operand
    if "ranks" in facets and shape is not None:
        ranks = [int(rank) for rank in facets["ranks"].split("|")]
        shape = _of_ranks(shape, ranks)
    for argument in arguments(call.row, "along"):
        place = call.whole(*argument) if call.is_given(*argument) else None
        if shape is not None and place is not None:
            shape.place(place)
    for facet in facets:
        known = _FACETS.get(facet)
        if known is not None:
            return known(call, shape)
    return None


def gives_shape(row: Operator) -> bool:
    """True if the facets of an operator say what the shape of its result is."""
    return not _FACETS.keys().isdisjoint(row.facets)


def _of_ranks(shape: Shape, ranks: Sequence[int]) -> Shape:
    """A shape of one of these numbers of dimensions. Raises `Refused` if it can have none of them."""
    possible = [rank for rank in ranks if rank == shape.rank or (shape.rank is None and rank >= shape.least_rank)]
    if not possible:
        raise Refused("rank", shape, " or ".join(map(str, ranks)))
    return of_rank(shape, possible[0]) if len(possible) == 1 else shape


def arguments(row: Operator, facet: str) -> tuple[tuple[int, str], ...]:
    """The positions and names of the arguments that a facet names."""
    return _read_arguments(row.facets.get(facet, ""))


@cache
def _read_arguments(text: str) -> tuple[tuple[int, str], ...]:
    parts = (part.partition("@") for part in text.split(","))
    return tuple((int(position), name) for name, at, position in parts if at)


# -- elementwise -----------------------------------------------------------------------------------------------------


def _keep(call: Call, shape: Shape | None) -> Result:
    if shape is None:
        _keep(call, unknown(None))
        return None
    channels = arguments(call.row, "takes-channels")
    is_checked = "if" not in call.row.facets or call.flag(*arguments(call.row, "if")[0]) is True
    if channels and is_checked:
        wanted = call.size(*channels[0])
        if "or-one" not in call.row.facets or cannot_be_one(wanted.size):
            shape = _with_size(call, shape, int(call.row.facets.get("place", 1)), wanted, "channels")
    for argument in arguments(call.row, "takes-features"):
        shape = _with_size(call, shape, -1, call.size(*argument), "features")
    return [shape, shape] if "pairs" in call.row.facets else shape


def _check_features(call: Call, shape: Shape | None) -> None:
    """Raises `Refused` if the last dimension is not as long as a layer takes."""
    for argument in arguments(call.row, "takes-features"):
        _with_size(call, unknown(None) if shape is None else shape, -1, call.size(*argument), "features")


def _with_size(call: Call, shape: Shape, place: int, wanted: Dim, kind: str) -> Shape:
    """The shape with the size that a layer takes at a place, where it is not known.

    Raises `Refused` if that dimension certainly is of another size, or certainly is not there.
    """
    if shape.star is None or (place < 0 and -place <= len(shape.tail)) or 0 <= place < len(shape.head):
        found = shape.at(place)
        windows.compare(call, shape, place, wanted, kind)
        is_open = found.size is None or any(map(is_of_input, found.size.symbols))
        return shape.with_dim(place, wanted) if is_open and wanted.size is not None else shape
    found = shape.at(place)
    if call.takes is not None:
        call.takes(found, wanted)
    fitting = with_last(shape, wanted) if place == -1 and wanted.size is not None and not shape.tail else shape
    if wanted.size is not None:
        call.taken.append((found, place, Refused(kind, fitting, wanted)))
    return fitting


def _known_type(call: Call, shape: Shape | None) -> Result:
    """`x.type(torch.float32)`; without an argument, a text."""
    return shape if call.is_given(*arguments(call.row, "if-typed")[0]) else None


def _broadcast(call: Call, shape: Shape | None) -> Result:
    found = shape
    named = arguments(call.row, "broadcasts")
    others = [call.tensor(*argument) for argument in named if call.is_given(*argument)] if named else call.tensors()
    if None in others:
        return shape if "in-place" in call.row.facets else unknown(call.key)
    for other in others:
        found = other if found is None or other is None else broadcast(found, other)
    if "several" in call.row.facets:
        return None if found is None else [found] * len(call.tensors())
    if "in-place" not in call.row.facets or shape is None or found is None:
        return found
    if None not in (shape.rank, found.rank):
        if shape.rank != found.rank:
            raise Refused("broadcast", shape, found)
        for before, after in zip(shape.head, found.head, strict=True):
            if differ(before.size, after.size):
                raise Refused("broadcast", shape, found)
    return shape


def _normal(call: Call, shape: Shape | None) -> Result:
    given = windows.numbers(call, *arguments(call.row, "normal")[0])
    if shape is None or given is None:
        return shape
    dims = [given] if isinstance(given, Dim) else given
    for place, dim in enumerate(reversed(dims), 1):
        if shape.star is None and place > len(shape.head):
            raise Refused("rank", shape, len(dims))
        shape = _with_size(call, shape, -place, dim, "features")
    return shape


# -- reductions and order --------------------------------------------------------------------------------------------


def _reduce(call: Call, shape: Shape | None) -> Result:
    if shape is None:
        return None
    facets = call.row.facets
    argument = arguments(call.row, "dims")[0]
    keeps = arguments(call.row, "keeps")
    keeps_dim = call.flag(*keeps[0]) if keeps and call.is_given(*keeps[0]) else False
    is_given = call.is_given(*argument)
    if is_given and "or-unbiased" in facets and call.flag(*argument) is not None and call.whole(*argument) is None:
        is_given = call.many(*argument) is not None  # `x.std(False)`
    for second in arguments(call.row, "or-other"):
        other = call.tensor(*argument) or call.tensor(*second)
        if other is not None:
            return broadcast(shape, other)
        if not is_given and call.is_given(*second):
            return None
    given = windows.numbers(call, *argument) if is_given else [Dim.of(-1)] if "last" in facets else []
    if given is None or keeps_dim is None:
        return None if "pairs" in facets else unknown(call.key)
    places = [_number(dim) for dim in ([given] if isinstance(given, Dim) else given)]
    if not places and is_given and "none-of-none" in facets:
        return shape
    if not places:
        return reduce(shape, None, keeps=keeps_dim)
    if None in places:
        found = unknown(call.key)
    else:
        found = reduce(shape, [place for place in places if place is not None], keeps=keeps_dim)
    return [found, found] if "pairs" in facets else found


def _number(dim: Dim | Star | None) -> int | None:
    return dim.size.constant if isinstance(dim, Dim) and dim.size is not None else None


def _swap(call: Call, shape: Shape | None) -> Result:
    one, other = (call.whole(*argument) for argument in arguments(call.row, "swaps"))
    return None if shape is None or one is None or other is None else swap(shape, one, other)


def _turn(call: Call, shape: Shape | None) -> Result:
    if shape is None:
        return None
    if shape.least_rank > 2:
        raise Refused("rank", shape, "at most 2")
    if shape.least_rank == 2:
        return swap(of_rank(shape, 2), 0, 1)
    return shape if shape.rank is not None else unknown(call.key)


def _matrices_turned(call: Call, shape: Shape | None) -> Result:
    """`x.mT`: the last two dimensions are exchanged."""
    if shape is None or shape.least_rank == 0:
        return None  # `x.mH` of a number is the number
    return swap(shape, -2, -1)


def _reverse(call: Call, shape: Shape | None) -> Result:
    """`x.T`: the dimensions in reversed order."""
    if shape is None or shape.star is not None:
        return None if shape is None else unknown(call.key)
    return Shape(shape.head[::-1])


def _permute(call: Call, shape: Shape | None) -> Result:
    given = call.sizes(*arguments(call.row, "permutes")[0])
    places = None if given is None else [_number(dim) for dim in given]
    if shape is None or places is None or None in places:
        return None
    return permute(shape, [place for place in places if place is not None])


def _diagonal_of(call: Call, shape: Shape | None) -> Result:
    """`torch.diag(x)`: a square with this diagonal, or the diagonal of a matrix."""
    is_given = call.is_given(*arguments(call.row, "diagonal-of")[0])
    if shape is None or shape.rank is None:
        return None
    if len(shape.head) not in (1, 2):
        raise Refused("rank", shape, "1 or 2")
    if len(shape.head) == 1:
        return Shape((ANY, ANY) if is_given else (shape.head[0],) * 2)
    return Shape((ANY if is_given else _shorter(*shape.head),))


def _shorter(one: Dim, other: Dim) -> Dim:
    """The smaller one of two sizes; unknown if it is not known which that is."""
    if one == other:
        return one
    sizes = [None if dim.size is None else dim.size.constant for dim in (one, other)]
    return ANY if sizes[0] is None or sizes[1] is None else Dim.of(min(sizes[0], sizes[1]))


def _diagonals(call: Call, shape: Shape | None) -> Result:
    offset, first, second = arguments(call.row, "diagonals")
    one, other = call.whole(*first, 0), call.whole(*second, 1)
    if shape is None or shape.rank is None or one is None or other is None:
        return None
    places = sorted((shape.place(one) or 0, shape.place(other) or 0))
    if places[0] == places[1]:
        raise Refused("dim", one, shape)
    length = ANY if call.whole(*offset, 0) != 0 else _shorter(shape.at(places[0]), shape.at(places[1]))
    kept = shape.without(places[1]).without(places[0])
    return Shape((*kept.head, length))


def _interleave(call: Call, shape: Shape | None) -> Result:
    times, dim = arguments(call.row, "interleaves")
    number = call.size(*times).size
    if shape is None:
        return None
    if not call.is_given(*dim):
        count = shape.elements()
        return Shape((Dim(None if count is None or number is None else limit(count * number)),))
    place = call.whole(*dim)
    if place is None:
        return unknown(call.key)
    if shape.rank == 0:
        shape.place(place)
        return Shape((Dim(number),))
    size = shape.at(place).size
    return shape.with_dim(place, Dim(None if size is None or number is None else limit(size * number)))


def _select(call: Call, shape: Shape | None) -> Result:
    return Shape((ANY,))


def _places(call: Call, shape: Shape | None) -> Result:
    """`x.nonzero()`; with `as_tuple=True` several tensors."""
    is_tuple = call.flag(1, "as_tuple") if call.is_given(1, "as_tuple") else False
    if is_tuple is not False:
        is_known = is_tuple and shape is not None and shape.rank is not None
        return [Shape((ANY,))] * max(len(shape.head), 1) if is_known and shape is not None else None
    return Shape((ANY, ANY if shape is None or shape.rank is None else Dim.of(len(shape.head))))


def _taken_along(call: Call, shape: Shape | None) -> Result:
    index, dim = arguments(call.row, "takes-along")
    ids = call.tensor(*index)
    place = call.whole(*dim) if call.is_given(*dim) else None
    if not call.is_given(*dim) and ids is not None:
        return Shape((Dim(ids.elements()),))
    if shape is None or ids is None or place is None or shape.rank is None or ids.rank is None:
        return None
    if shape.rank != ids.rank:
        raise Refused("rank", shape, ids)
    at = shape.place(place) or 0
    pairs = zip(shape.head, ids.head, strict=True)
    return Shape(tuple(two if n == at else common_dim(one, two, shape, ids) for n, (one, two) in enumerate(pairs)))


def _added_product(call: Call, shape: Shape | None) -> Result:
    count = int(call.row.facets["adds-product"])
    one = call.tensor(1, "batch1" if count == 3 else "mat1")
    other = call.tensor(2, "batch2" if count == 3 else "mat2")
    if one is None or other is None:
        return None
    found = multiply(of_rank(one, count), of_rank(other, count))
    if shape is not None and broadcast(shape, found).rank not in (None, count):
        raise Refused("broadcast", shape, found)
    return found


def _last(call: Call, shape: Shape | None) -> Result:
    return None if shape is None else with_last(shape, call.size(*arguments(call.row, "last")[0]))


def _mesh(call: Call, shape: Shape | None) -> Result:
    found = call.parts()
    vectors = call.tensors() if found is None else found[0]
    if not vectors or (found is not None and found[1]) or any(one.rank is None for one in vectors):
        return None
    if any(one.least_rank > 1 for one in vectors):
        raise Refused("rank", [str(one) for one in vectors], 1)
    dims = [one.head[0] if one.head else Dim(ONE) for one in vectors]
    argument = arguments(call.row, "meshes")[0]
    word = call.text(*argument) if call.is_given(*argument) else "ij"
    if word != "ij" and len(dims) > 1:
        dims[:2] = dims[1::-1] if word == "xy" else [ANY, ANY]
    return [Shape(tuple(dims))] * len(dims)


def _stand(call: Call, shape: Shape | None) -> Result:
    """Tensors of at least so many dimensions, one or joined ones."""
    least = int(call.row.facets["stands"])
    if "cats-at" not in call.row.facets:
        return None if shape is None or call.parts() is not None else _at_least(shape, least)
    found = call.parts()
    if found is None or not found[0]:
        return None
    parts = [_at_least(one, least) for one in found[0]]
    place = int(call.row.facets["cats-at"])
    if least == 1 and any(part.rank is None for part in parts):
        return unknown(call.key)
    return join(parts, 0 if least == 1 and parts[0].rank == 1 else place, more=found[1])


def _at_least(shape: Shape, rank: int) -> Shape:
    if shape.star is not None:
        return shape if shape.least_rank >= rank else unknown(None)
    one = Dim(ONE)
    if rank == 3 and len(shape.head) in (1, 2):
        return Shape((*((one,) * (2 - len(shape.head))), *shape.head, one))
    return Shape((*((one,) * (rank - len(shape.head))), *shape.head))


def _paired_rows(call: Call, shape: Shape | None) -> Result:
    other = call.tensor(*arguments(call.row, "pairs-rows")[0])
    if shape is None or other is None:
        return None
    if 1 in (shape.rank, other.rank) or 0 in (shape.rank, other.rank):
        raise Refused("rank", shape, other)
    if shape.least_rank < 2 or other.least_rank < 2:
        return unknown(call.key)
    return multiply(shape, swap(other, -2, -1))


def _slide(call: Call, shape: Shape | None) -> Result:
    dim, size, step = arguments(call.row, "slides")
    place, length, by = call.whole(*dim), call.size(*size), call.size(*step)
    if shape is None or place is None:
        return None
    if shape.rank == 0:
        return unknown(call.key)
    whole = shape.at(place).size
    _check_length(shape, place, length, "unfold")
    is_known = whole is not None and length.size is not None and by.size is not None and by.size.constant != 0
    count = (whole - length.size).floor(by.size) + ONE if is_known else None  # type: ignore[operator, arg-type]
    found = shape.with_dim(place, Dim(limit(count)))
    if found.star is None:
        return Shape((*found.head, length))
    return Shape(found.head, found.star, (*found.tail, length))


def _padded_sequence(call: Call, shape: Shape | None) -> Result:
    found = call.parts()
    argument = arguments(call.row, "pads-sequence")[0]
    is_first = call.flag(*argument) if call.is_given(*argument) else False
    if found is None or not found[0]:
        return None
    count = ANY if found[1] else Dim.of(len(found[0]))
    part = found[0][0]
    if part.star is not None or not part.head:
        return unknown(call.key)
    lengths = {one.at(0) for one in found[0] if one.rank is not None}
    longest = part.head[0] if len(lengths) == 1 and len(found[0]) == 1 and not found[1] else ANY
    numbers = [_number(one.at(0)) if one.rank else None for one in found[0]]
    if None not in numbers and not found[1]:
        longest = Dim.of(max(number for number in numbers if number is not None))
    front = (ANY, ANY) if is_first is None else (count, longest) if is_first else (longest, count)
    return Shape((*front, *part.head[1:]))


def _grid_of(call: Call, shape: Shape | None) -> Result:
    given = windows.numbers(call, *arguments(call.row, "grid-of")[0])
    if given is None or isinstance(given, Dim):
        return None
    return Shape((given[0], *given[2:], Dim.of(len(given) - 2))) if len(given) in (4, 5) else None


def _sample(call: Call, shape: Shape | None) -> Result:
    grid = call.tensor(*arguments(call.row, "samples")[0])
    if shape is None or grid is None or shape.rank is None or grid.rank is None:
        return None
    if len(shape.head) not in (4, 5) or len(grid.head) != len(shape.head):
        raise Refused("rank", shape, grid)
    if differ(grid.head[-1].size, Size.of(len(grid.head) - 2)) or differ(grid.head[0].size, shape.head[0].size):
        raise Refused("grid", shape, grid)
    return Shape((*shape.head[:2], *grid.head[1:-1]))


def _compare(call: Call, shape: Shape | None) -> Result:
    second, *dims = arguments(call.row, "compares")
    place = call.whole(*dims[0], int(call.row.facets["at"])) if dims else int(call.row.facets["at"])
    keeps = arguments(call.row, "keeps")
    keeps_dim = call.flag(*keeps[0]) if keeps and call.is_given(*keeps[0]) else False
    is_function = call.row.name.startswith("torch.nn.functional.")
    given = call.tensors()
    other = call.tensor(*second) if is_function else given[1] if len(given) == 2 else None
    if shape is None or other is None or place is None or keeps_dim is None:
        return None
    return reduce(broadcast(shape, other), [place], keeps=keeps_dim)


def _bilinear(call: Call, shape: Shape | None) -> Result:
    weight = call.tensor(*arguments(call.row, "bilinear")[0])
    if shape is None or weight is None:
        return None
    made, first, _ = of_rank(weight, 3).head
    _with_size(call, shape, -1, first, "features")
    return with_last(shape, made)


def _second(call: Call, shape: Shape | None) -> Result:
    _check_features(call, shape)
    given = call.tensors()
    return given[1] if len(given) == 2 else None


def _move(call: Call, shape: Shape | None) -> Result:
    given = [windows.numbers(call, *argument) for argument in arguments(call.row, "moves")]
    sources, targets = ([_number(dim) for dim in ([side] if isinstance(side, Dim) else side or [])] for side in given)
    if shape is None or shape.star is not None or None in given or None in sources or None in targets:
        return None
    from_places, to_places = ([shape.place(place or 0) or 0 for place in side] for side in (sources, targets))
    is_repeated = any(len(set(side)) < len(side) for side in (from_places, to_places))
    if len(from_places) != len(to_places) or is_repeated:
        raise Refused("permute", shape, [sources, targets])
    pairs = dict(zip(to_places, from_places, strict=True))
    rest = iter(place for place in range(len(shape.head)) if place not in from_places)
    return permute(shape, [pairs[place] if place in pairs else next(rest) for place in range(len(shape.head))])


# -- other dimensions ------------------------------------------------------------------------------------------------


def _view(call: Call, shape: Shape | None) -> Result:
    given = call.sizes(*arguments(call.row, "views")[0])
    return None if given is None or shape is None else view(shape, given, is_possible=call.takes is not None)


def _unflatten(call: Call, shape: Shape | None) -> Result:
    dim, into = arguments(call.row, "unflattens")
    place, given = call.whole(*dim), call.many(*into)
    if shape is None or place is None or given is None or isinstance(given, Dim):
        return None
    if shape.star is not None and not (0 <= place < len(shape.head) or (place < 0 and -place <= len(shape.tail))):
        return unknown(call.key)
    parts = view(Shape((shape.at(place),)), given, is_possible=call.takes is not None)
    if parts.star is not None:
        return unknown(call.key)
    if shape.star is None or place >= 0:
        return Shape((*shape.head[:place], *parts.head, *shape.head[place:][1:]), shape.star, shape.tail)
    return Shape(shape.head, shape.star, (*shape.tail[:place], *parts.head, *shape.tail[place:][1:]))


def _merge(call: Call, shape: Shape | None) -> Result:
    first, last = arguments(call.row, "merges")
    is_layer = call.row.name.startswith("torch.nn.")
    start, end = call.whole(*first, 1 if is_layer else 0), call.whole(*last, -1)
    return None if shape is None or start is None or end is None else flatten(shape, start, end)


def _insert(call: Call, shape: Shape | None) -> Result:
    place = call.whole(*arguments(call.row, "inserts")[0])
    return None if shape is None or place is None else shape.insert(place)


def _squeeze(call: Call, shape: Shape | None) -> Result:
    argument = arguments(call.row, "squeezes-at")[0]
    if shape is None:
        return None
    if not call.is_given(*argument):
        return squeeze(shape, None)
    given = call.many(*argument)
    places = None if given is None else [_number(dim) for dim in ([given] if isinstance(given, Dim) else given)]
    if places is None or None in places:
        return unknown(call.key)
    known = [place for place in places if place is not None]
    for place in known:
        if shape.rank:
            shape.at(place)
    if len(known) > 1 and shape.rank is None:
        return unknown(call.key)
    order = [shape.place(place) or 0 for place in known] if shape.rank is not None else known
    for place in sorted(order, reverse=True):
        if len(order) > 1 and shape.rank is None:
            return unknown(call.key)
        shape = squeeze(shape, place)
    return shape


def _drop(call: Call, shape: Shape | None) -> Result:
    place = call.whole(*arguments(call.row, "drops")[0])
    if shape is None or place is None:
        return None
    shape.at(place)
    return shape.without(place)


def _narrow(call: Call, shape: Shape | None) -> Result:
    dim, length = arguments(call.row, "narrows")
    place, wanted = call.whole(*dim), call.size(*length)
    if shape is None or place is None:
        return None
    _check_length(shape, place, wanted, "narrow")
    return shape.with_dim(place, wanted)


def _check_length(shape: Shape, place: int, wanted: Dim, kind: str) -> None:
    """Raises `Refused` if a dimension is shorter than what is taken of it."""
    length, number = (None if one.size is None else one.size.constant for one in (shape.at(place), wanted))
    if length is not None and number is not None and not 0 <= number <= length:
        raise Refused(kind, shape, number)


def _top(call: Call, shape: Shape | None) -> Result:
    count, dim = arguments(call.row, "top")
    place, wanted = call.whole(*dim, -1), call.size(*count)
    if shape is None or place is None:
        return None
    if shape.rank == 0:
        shape.place(place)
        return [shape, shape]
    _check_length(shape, place, wanted, "topk")
    found = shape.with_dim(place, wanted)
    return [found, found]


def _pick(call: Call, shape: Shape | None) -> Result:
    dim, index = arguments(call.row, "picks")
    place, ids = call.whole(*dim), call.tensor(*index)
    if ids is not None and ids.least_rank > 1:
        raise Refused("index", ids, 1)
    if shape is None or place is None:
        return None
    if shape.rank == 0:
        shape.place(place)
        return shape
    shape.at(place)
    return shape.with_dim(place, ANY if ids is None or ids.rank is None else ids.head[0] if ids.head else Dim(ONE))


def _split(call: Call, shape: Shape | None) -> Result:
    given, dim = arguments(call.row, "splits")
    place, parts = call.whole(*dim, 0), windows.numbers(call, *given)
    if shape is None or place is None or parts is None:
        return None
    length = shape.at(place)
    if isinstance(parts, Dim):
        size, step = (None if one.size is None else one.size.constant for one in (length, parts))
        if size is None or not step:
            # `x.split(n // 3)` of n: as many as that leaves
            return None if length.size is None or parts.size is None else _equal_parts(shape, place, length, parts)
        if step < 0:
            raise Refused("split", shape, step)
        sizes = [Dim.of(min(step, size - start)) for start in range(0, size, step)] or [Dim.of(0)]
        return [shape.with_dim(place, one) for one in sizes] if len(sizes) <= _MAX_PARTS else None
    known = [one.size for one in parts]
    if None not in known and length.size is not None:
        total = Size.of(0)
        for one in known:
            total = total + one  # type: ignore[operator]
        if differ(total, length.size):
            raise Refused("split", shape, [str(one) for one in known])
    return [shape.with_dim(place, Dim(size)) for size in known]


def _equal_parts(shape: Shape, place: int, length: Dim, part: Dim) -> Result:
    assert length.size is not None
    assert part.size is not None
    for count in range(1, 9):
        if part.size * Size.of(count) == length.size:
            return [shape.with_dim(place, part)] * count
    return None


def _chunk(call: Call, shape: Shape | None) -> Result:
    given, dim = arguments(call.row, "chunks")
    place, count = call.whole(*dim, 0), call.whole(*given)
    if shape is None or place is None or count is None:
        return None
    if count < 1:
        raise Refused("chunk", shape, count)
    size = shape.at(place).size
    number = None if size is None else size.constant
    if count > _MAX_PARTS:
        return None
    if number is not None:
        step = -(-number // count)
        sizes = [min(step, number - start) for start in range(0, number, step)] if step else [0] * count
        return [shape.with_dim(place, Dim.of(one)) for one in sizes]
    return [shape.with_dim(place, _divide(size, count))] * count


def _divide(size: Size | None, count: int) -> Dim:
    """One of so many parts of the same length; of unknown size if it is not known that they are."""
    part = None if size is None else size.floor(Size.of(count))
    return Dim(part if part is not None and part * Size.of(count) == size else None)


def _section(call: Call, shape: Shape | None) -> Result:
    """`x.tensor_split(3)`, or `x.tensor_split((2, 5))`: the ends of all parts but the last."""
    given, dim = arguments(call.row, "sections")
    place = call.whole(*dim, 0)
    name = next((name for name in (given[1], "indices", "sections") if call.is_given(given[0], name)), given[1])
    parts = windows.numbers(call, given[0], name)
    if shape is None or place is None or parts is None or call.tensor(given[0], name) is not None:
        return None
    size = shape.at(place).size
    number = None if size is None else size.constant
    if isinstance(parts, Dim):
        count = None if parts.size is None else parts.size.constant
        if count is None or count > _MAX_PARTS:
            return None
        if count < 1:
            raise Refused("split", shape, count)
        if number is None:
            return [shape.with_dim(place, _divide(size, count))] * count
        return [shape.with_dim(place, Dim.of(number // count + (at < number % count))) for at in range(count)]
    ends = [None if one.size is None else one.size.constant for one in parts]
    if number is None or any(end is None or end < 0 for end in ends):
        return [shape.with_dim(place, ANY)] * (len(parts) + 1)
    bounds = [0, *(min(end or 0, number) for end in ends), number]
    lengths = [max(stop - start, 0) for start, stop in pairwise(bounds)]
    return [shape.with_dim(place, Dim.of(length)) for length in lengths]


def _unbind(call: Call, shape: Shape | None) -> Result:
    place = call.whole(*arguments(call.row, "unbinds")[0], 0)
    if shape is None or place is None:
        return None
    size = shape.at(place).size
    number = None if size is None else size.constant
    return [shape.without(place)] * number if number is not None and number <= _MAX_PARTS else None


def _join(call: Call, shape: Shape | None) -> Result:
    found = call.parts()
    if found is None:
        return None
    place = call.whole(*arguments(call.row, "cats")[0], 0)
    return unknown(call.key) if place is None or not found[0] else join(found[0], place, more=found[1])


def _pile(call: Call, shape: Shape | None) -> Result:
    found = call.parts()
    place = call.whole(*arguments(call.row, "piles")[0], 0)
    if found is None or place is None or not found[0]:
        return None
    first = agree(found[0], "stack")
    count = ANY if found[1] else Dim.of(len(found[0]))
    return first.insert(place, count)


def _multiply(call: Call, shape: Shape | None) -> Result:
    names = ("other", "mat2", "vec", "tensor")
    other = next((one for name in names if (one := call.tensor(1, name)) is not None), None)
    if shape is None or other is None:
        return None
    count = call.row.facets["multiplies"]
    if count:
        first, _, second = count.partition(",")
        shape, other = of_rank(shape, int(first)), of_rank(other, int(second or first))
    found = multiply(shape, other)
    if count == "3":
        batch = agree([Shape(shape.head[:1]), Shape(other.head[:1])], "matmul")
        return Shape((*batch.head, *found.head[1:]))
    return found


def _linear(call: Call, shape: Shape | None) -> Result:
    weight = call.tensor(*arguments(call.row, "linear")[0])
    if shape is None or weight is None or weight.rank not in (1, 2):
        return None
    bias = call.tensor(*arguments(call.row, "bias")[0])
    if weight.rank == 2 and bias is not None and bias.rank == 1 and cannot_broadcast(bias.head[0], weight.head[0]):
        raise Refused("bias", bias, weight)
    return multiply(shape, swap(weight, 0, 1) if weight.rank == 2 else weight)


def _outer(call: Call, shape: Shape | None) -> Result:
    found = [of_rank(one, 1).head[0] for one in call.tensors()]
    return Shape(tuple(found)) if len(found) == 2 else None


def _shaped_as(call: Call, shape: Shape | None) -> Result:
    other = call.tensor(*arguments(call.row, "shaped-as")[0])
    if other is None or shape is None:
        return other
    kind = call.row.facets.get("from")
    if kind == "elements" and differ(shape.elements(), other.elements()):
        raise Refused("view", shape, other)
    if kind == "expanded" and other.star is None:
        expand(shape, list(other.head))
    is_known = shape.rank is not None and other.rank is not None
    if kind == "rank" and is_known and max(len(shape.head), 1) != max(len(other.head), 1):
        raise Refused("index", shape, other)
    return other


def _expand(call: Call, shape: Shape | None) -> Result:
    given = call.sizes(*arguments(call.row, "expands")[0])
    return None if shape is None or given is None else expand(shape, given)


def _repeat(call: Call, shape: Shape | None) -> Result:
    given = call.sizes(*arguments(call.row, "repeats-by")[0])
    if shape is None or given is None:
        return None
    if call.row.name.endswith("tile"):
        if shape.star is not None:
            return unknown(call.key)
        given = [*([Dim(ONE)] * (len(shape.head) - len(given))), *given]
    return repeat(shape, given)


def _append(call: Call, shape: Shape | None) -> Result:
    argument = arguments(call.row, "appends")[0]
    weight = call.tensor(*argument)
    width = of_rank(weight, 2).head[1] if weight is not None else call.size(*argument)
    if width.size is not None and width.size.constant is not None and width.size.constant < 0:
        width = ANY  # `F.one_hot(x, -1)`: as the largest of them asks for
    if shape is None:
        return Shape((), ANY_STAR, (width,))
    if shape.star is None:
        return Shape((*shape.head, width))
    return Shape(shape.head, shape.star, (*shape.tail, width))


# -- new tensors -----------------------------------------------------------------------------------------------------


def _make(call: Call, shape: Shape | None) -> Result:
    given: list[Dim | Star | None] | None = None
    for argument in arguments(call.row, "made-of"):
        many = call.many(*argument)
        if isinstance(many, list):
            given = many
            break
    else:
        *others, last = arguments(call.row, "made-of")
        given = None if others else call.sizes(*last)
    if given is None:
        return unknown(call.key)
    if sum(isinstance(one, Star) for one in given) > 1:
        return unknown(call.key)
    sizes = [one.size.constant for one in given if isinstance(one, Dim) and one.size is not None]
    if any(size is not None and size < 0 for size in sizes):
        raise Refused("negative", [str(one) for one in given], 0)
    at = next((number for number, one in enumerate(given) if isinstance(one, Star)), None)
    dims = [one if isinstance(one, Dim) else ANY for one in given]
    if at is None:
        return Shape(tuple(dims))
    star = given[at]
    assert isinstance(star, Star)
    return Shape(tuple(dims[:at]), star, tuple(dims[at + 1 :]))


def _count_to(call: Call, shape: Shape | None) -> Result:
    return Shape((call.size(*arguments(call.row, "counts-to")[0]),))


def _range_to(call: Call, shape: Shape | None) -> Result:
    """`torch.arange(end)`, `torch.arange(start, end, step)`."""
    if not call.is_given(1, "end"):
        start, end = Dim.of(0), call.size(0, "end")
    else:
        start, end = call.size(0, "start") if call.is_given(0, "start") else Dim.of(0), call.size(1, "end")
    step = call.size(2, "step") if call.is_given(2, "step") else Dim(ONE)
    by = None if step.size is None else step.size.constant
    if start.size is None or end.size is None or not by:
        return Shape((ANY,))
    length = end.size - start.size
    if by < 0:
        length, by = -length, -by
    length = (length + Size.of(by - 1)).floor(Size.of(by))
    if length.constant is not None and length.constant < 0:
        raise Refused("arange", str(start), str(end))
    return Shape((Dim(limit(length)),))


def _square(call: Call, shape: Shape | None) -> Result:
    side = call.size(*arguments(call.row, "grid")[0])
    other = call.size(1, "m") if call.is_given(1, "m") else side
    return Shape((side, other))


# -- layers ----------------------------------------------------------------------------------------------------------


def _features(call: Call, shape: Shape | None) -> Result:
    made = call.size(*arguments(call.row, "gives-features")[0])
    _check_features(call, shape)
    return Shape((), ANY_STAR, (made,)) if shape is None else with_last(shape, made)


def _recurrent(call: Call, shape: Shape | None) -> Result:
    hidden, layers, first, two = arguments(call.row, "states")
    projection = arguments(call.row, "projects")
    _check_features(call, shape)
    is_first, is_two = call.flag(*first), call.flag(*two)
    number = call.whole(*layers, 1)
    size = call.size(*hidden)
    made = size
    if projection and call.is_given(*projection[0]):
        made = call.size(*projection[0])
        made, size = (size, size) if made.size == Size.of(0) else (made, ANY) if made.size is not None else (ANY, ANY)
    flag = call.size(*two).size if is_two is None and call.is_given(*two) else Size.of(1 if is_two else 0)
    times = None if flag is None else flag + ONE
    width = Dim(None if times is None or made.size is None else limit(made.size * times))
    stacked = ANY if number is None or is_two is None else Dim.of(number * (2 if is_two else 1))
    if shape is None:
        return [Shape((), ANY_STAR, (width,)), Shape((stacked,), ANY_STAR, (size,))]
    if shape.star is not None:
        return [with_last(shape, width), Shape((stacked,), ANY_STAR, (size,))]
    batch = () if len(shape.head) == 2 else (shape.head[0 if is_first else 1],) if is_first is not None else (ANY,)
    state = Shape((stacked, *batch, size))
    given = [one for one in call.tensors() if one is not shape]
    for other in given if len(given) <= 2 and len(call.tensors()) == len(given) + 1 else ():
        if other.rank is not None and made == size:
            agree([state, other], "state")
    return [Shape((*shape.head[:-1], width)), state]


def _of_cell(call: Call, shape: Shape | None) -> Result:
    _check_features(call, shape)
    size = call.size(*arguments(call.row, "cell")[0])
    found = Shape((), ANY_STAR, (size,)) if shape is None else with_last(shape, size)
    return [found, found] if "pairs" in call.row.facets else found


def _attend(call: Call, shape: Shape | None) -> Result:
    _check_features(call, shape)
    return [unknown((call.key, 0)) if shape is None else shape, unknown((call.key, 1))]


def _attention(call: Call, shape: Shape | None) -> Result:
    key, value = call.tensor(1, "key"), call.tensor(2, "value")
    if shape is None or value is None:
        return None
    if min(shape.least_rank, value.least_rank) < 2:
        return unknown(call.key)
    width, batch = value.at(-1), shape.without(-1).without(-1)
    if key is not None and key.least_rank >= 2 and differ(key.at(-1).size, shape.at(-1).size):
        raise Refused("attention", shape, key)
    if shape.star is not None or value.star is not None or key is None or key.star is not None:
        return Shape((), ANY_STAR, (*(shape.tail[-2:-1] if shape.star is not None else shape.head[-2:-1]), width))
    others = [one.without(-1).without(-1) for one in (key, value)]
    if any(len(other.head) != len(batch.head) for other in others):
        return Shape((), ANY_STAR, (shape.at(-2), width))
    dims = [dim if all(other.head[at] == dim for other in others) else ANY for at, dim in enumerate(batch.head)]
    return Shape((*dims, shape.at(-2), width))


def _halve(call: Call, shape: Shape | None) -> Result:
    place = call.whole(*arguments(call.row, "halves")[0], -1)
    if shape is None or place is None:
        return None
    size = shape.at(place).size
    if size is not None and size.constant is not None and size.constant % 2:
        raise Refused("half", shape, place)
    return shape.with_dim(place, _divide(size, 2))


def _loss(call: Call, shape: Shape | None) -> Result:
    """The loss of two tensors; a number unless it is told not to reduce."""
    target = _target(call)
    kind = call.row.facets["loses"]
    if shape is None or target is None or kind == "sequences":
        return _of_reduction(call, None)
    if kind == "same":
        found = agree([shape, target], "loss")
        for facet in ("weight", "pos-weight"):
            for argument in arguments(call.row, facet):
                weight = call.tensor(*argument)
                if weight is not None:
                    broadcast(found, weight)
    else:
        found = broadcast(shape, target)
    return _of_reduction(call, found)


def _target(call: Call) -> Shape | None:
    """The second tensor that a loss is called with."""
    if not call.row.name.startswith("torch.nn.") or call.row.name.startswith("torch.nn.functional."):
        return call.tensor(1, "target")
    given = call.tensors()
    return given[1] if len(given) == 2 else None


def _of_reduction(call: Call, shape: Shape | None) -> Shape:
    """A single number, or a shape if a loss is told not to reduce it."""
    argument = arguments(call.row, "reduction")[0]
    is_old = any(call.is_given(99, name) for name in ("size_average", "reduce"))
    word = call.text(*argument) if call.is_given(*argument) else "mean"
    if word in ("mean", "sum") and not is_old:
        return Shape()
    return unknown(call.key) if shape is None or word != "none" or is_old else shape


def _loss_of_classes(call: Call, shape: Shape | None) -> Result:
    """The loss of scores of classes, `[N, C, d…]`, against ids `[N, d…]`, or probabilities of the scores' shape."""
    target = _target(call)
    if shape is None or target is None or shape.rank is None or target.rank is None:
        return _of_reduction(call, None)
    if not shape.head:
        raise Refused("loss", shape, target)
    place = min(len(shape.head) - 1, 1)
    if len(shape.head) == 1 and len(target.head) < 2:
        return _of_reduction(call, Shape())
    weight = call.tensor(*arguments(call.row, "weight")[0])
    if weight is not None and weight.rank == 1 and differ(weight.head[0].size, shape.head[place].size):
        raise Refused("weight", weight, shape)
    if shape.rank == target.rank and call.row.facets["classes"] == "probabilities":
        return _of_reduction(call, agree([shape, target], "loss").without(place))
    wanted = shape.without(place)
    if len(wanted.head) != len(target.head):
        raise Refused("loss", shape, target)
    for one, other in zip(wanted.head, target.head, strict=True):
        if differ(one.size, other.size):
            raise Refused("loss", shape, target)
    return _of_reduction(call, target)


def _by_equation(call: Call, shape: Shape | None) -> Result:
    text = call.text(0, "equation")
    tensors = call.tensors()
    return None if text is None or len(tensors) < text.count(",") + 1 else patterns.einsum(text, tensors)


def _by_pattern(call: Call, shape: Shape | None) -> Result:
    text = call.text(*arguments(call.row, "pattern")[0])
    return None if text is None or shape is None else patterns.rearrange(text, shape, call.keywords())


_FACETS: dict[str, Callable[[Call, Shape | None], Result]] = {
    "window": windows.result,
    "broadcasts": _broadcast,
    "dims": _reduce,
    "swaps": _swap,
    "turns": _turn,
    "permutes": _permute,
    "moves": _move,
    "views": _view,
    "unflattens": _unflatten,
    "merges": _merge,
    "inserts": _insert,
    "squeezes-at": _squeeze,
    "drops": _drop,
    "narrows": _narrow,
    "top": _top,
    "picks": _pick,
    "splits": _split,
    "chunks": _chunk,
    "unbinds": _unbind,
    "cats": _join,
    "piles": _pile,
    "multiplies": _multiply,
    "linear": _linear,
    "outer": _outer,
    "shaped-as": _shaped_as,
    "expands": _expand,
    "repeats-by": _repeat,
    "appends": _append,
    "made-of": _make,
    "counts-to": _count_to,
    "grid": _square,
    "gives-features": _features,
    "states": _recurrent,
    "cell": _of_cell,
    "attends": _attend,
    "attention": _attention,
    "halves": _halve,
    "loses": _loss,
    "classes": _loss_of_classes,
    "sections": _section,
    "ranges": _range_to,
    "if-typed": _known_type,
    "turns-matrices": _matrices_turned,
    "reverses": _reverse,
    "equation": _by_equation,
    "pattern": _by_pattern,
    "normal": _normal,
    "resizes": windows.resize,
    "shuffles": windows.shuffle,
    "unshuffles": windows.unshuffle,
    "pads-by": windows.pad,
    "keeps-shape": _keep,
    "diagonal-of": _diagonal_of,
    "diagonals": _diagonals,
    "interleaves": _interleave,
    "selects": _select,
    "places": _places,
    "takes-along": _taken_along,
    "adds-product": _added_product,
    "last": _last,
    "meshes": _mesh,
    "stands": _stand,
    "pairs-rows": _paired_rows,
    "slides": _slide,
    "pads-sequence": _padded_sequence,
    "grid-of": _grid_of,
    "samples": _sample,
    "compares": _compare,
    "bilinear": _bilinear,
    "shaped-as-second": _second,
}
