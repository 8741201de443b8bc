"""The shapes that annotations by jaxtyping give parameters: `x: Float[Tensor, "batch length 64"]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow.domain import Site
from modellint.flow.shapes.notes import Sized
from modellint.flow.shapes.shape import ANY, Dim, Shape, Star, of_rank, unknown
from modellint.graph.definitions import External
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.graph.methods import Method
    from modellint.graph.python import Function
    from modellint.graph.value import Parameter, Value

_HOME = "jaxtyping."
_TENSORS = frozenset(("torch.Tensor", "torch._tensor.Tensor"))
#: The types of elements by the names of kinds, and the size of a dimension that has none.
_TYPES, _SIZE = {"Int": "int64", "Int64": "int64", "Integer": "int64", "Int32": "int32", "Bool": "bool"}, 2
#: A number, perhaps with a name (`rows=4`), and a name that stands for one size everywhere in a signature.
_NUMBER = re.compile(r"(?:[A-Za-z]\w*=)?([0-9]+)")
_NAME = re.compile(r"[A-Za-z]\w*")


def annotated_shape(parameter: Parameter, code: Method, function: Function, *, has_names: bool) -> Shape | None:
    """The shape that the annotation of a parameter tells; None if it tells none.

    jaxtyping checks the number of dimensions and those sizes that are numbers. Sizes that have names are symbols of the
    function if the shape `has_names`; otherwise a shape without a number is None.
    """
    annotation = parameter.annotation
    text = None if annotation is None else _text_of(annotation, code)
    if annotation is None or text is None:
        return None
    parts = text.split()
    stars = [place for place, part in enumerate(parts) if part == "..." or part.startswith("*")]
    if len(stars) > 1 or not (has_names or any(map(_NUMBER.fullmatch, parts))):
        return None
    site, owner = Site(annotation, function), f"{function.module.path}:{function.qualname}"

    def dim_of(part: str, otherwise: Dim) -> Dim:
        number = _NUMBER.fullmatch(part)
        if number is not None:
            return Dim(Size.of(int(number[1])), site)
        is_named = has_names and _NAME.fullmatch(part) is not None
        return Dim(Size.symbol(Symbol(owner, part))) if is_named else otherwise

    given = unknown(("input", str(function.module.path), parameter.name), parameter.name)
    if not stars:
        dims = of_rank(given, len(parts)).head
        return Shape(tuple(map(dim_of, parts, dims)))
    assert given.star is not None
    head, tail = parts[: stars[0]], parts[stars[0] + 1 :]
    star: Star = given.star.cut(len(head), len(tail))
    return Shape(tuple(dim_of(one, ANY) for one in head), star, tuple(dim_of(one, ANY) for one in tail))


def annotated_inputs(function: Function, code: Method) -> tuple[Sized, ...]:
    """Tensors of the annotated shapes, if one has a number; sizes that have none are alike."""
    found = []
    for parameter in function.parameters:
        annotation = parameter.annotation
        shape = None if annotation is None else annotated_shape(parameter, code, function, has_names=False)
        if annotation is not None and shape is not None:
            dims = (*shape.head, *(() if shape.star is None else (ANY,)), *shape.tail)
            sizes = tuple((None if dim.size is None else dim.size.constant) or _SIZE for dim in dims)
            kind = str(annotation.args[0].data).rpartition(".")[2]
            found.append(Sized(parameter.name, _TYPES.get(kind, "float32"), sizes))
    return tuple(found)


def _text_of(annotation: Value, code: Method) -> str | None:
    """The sizes in `Float[Tensor, "batch 64"]`; None for any other annotation."""
    if annotation.op is not Op.INDEX or annotation.args[1].op is not Op.TUPLE or len(annotation.args[1].args) != 2:
        return None
    kind, sizes = annotation.args[1].args
    if sizes.op is not Op.CONST or not isinstance(sizes.data, str):
        return None
    names = [
        found.name if isinstance(found := code.scope.definition(part), External) else ""
        for part in (annotation.args[0], kind)
    ]
    return sizes.data if names[0].startswith(_HOME) and names[1] in _TENSORS else None
