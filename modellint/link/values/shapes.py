"""Shapes that a function's author wrote down: in a docstring, a comment or an annotation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.graph.python import Function, Parameter

#: What may stand behind a parameter's name up to its shape, and where the next parameter begins.
_TAIL = r"\b{name}\b([^\n;]{{0,160}})"
_NEXT_NAME = re.compile(r"(?<=[\s,])\w+\s*(?:\([^(),]*\)\s*)?:(?!:)")
_SHAPE = re.compile(r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]")


def documented_shape(function: Function, parameter: str) -> tuple[str, ...] | None:
    """The shape that a jaxtyping annotation, a docstring or a comment gives for a parameter."""
    declared = function.parameter(parameter)
    annotated = None if declared is None else _annotated_shape(declared)
    if annotated is not None:
        return annotated
    comments = "\n".join(line.partition("#")[2] for line in function.text.splitlines() if "#" in line)
    for text in (function.docstring or "", comments):
        for match in re.finditer(_TAIL.format(name=re.escape(parameter)), text):
            tail = match[1]
            following = _NEXT_NAME.search(tail)
            found = _SHAPE.search(tail[: following.start()] if following else tail)
            if found is not None:
                shape = tuple(part.strip(" `*'\"") for part in found[1].split(","))
                return tuple(part for part in shape if part)
    return None


def _annotated_shape(parameter: Parameter) -> tuple[str, ...] | None:
    """`("batch", "time")` of `x: Float[Tensor, "batch time"]`."""
    annotation = parameter.annotation
    if annotation is None or annotation.op is not Op.INDEX or annotation.args[1].op is not Op.TUPLE:
        return None
    dimensions = annotation.args[1].args[-1]
    if dimensions.op is not Op.CONST or not isinstance(dimensions.data, str):
        return None
    return tuple(dimensions.data.split())
