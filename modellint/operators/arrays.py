"""The functions and methods of numpy whose arrays become tensors: the types of elements that they give, as data.

The facets of a row:

    type:T          a type; `type:literal` that of the numbers it is given, `type:count` of its arguments, `type:fill`
                    of the argument after the shape, `type:sized` float64 if it is given sizes (else a number)
    keeps           that of the operand; `real`: a type of real numbers for whole ones, `adds`: int64 for most of these,
                    `no-flags`: another one for bool
    casts           the type that its argument names; `other`: something else
    dtype:P         the position of the argument `dtype`; all functions take it by name
    shape:P         the position of the argument that is the shape
"""

from __future__ import annotations

from functools import cache

from . import Operator, parse_rows

ARRAYS = """
[functions of numpy]
zeros ones empty                                    : type:float64 dtype:1 shape:0
eye identity linspace logspace                      : type:float64
full                                                : type:fill dtype:2 shape:0
array asarray                                       : type:literal dtype:1
arange                                              : type:count dtype:3
sin cos tan exp exp2 expm1 log log2 log10 log1p sqrt tanh sinh cosh arctan arcsin arccos radians degrees : keeps real
abs negative flip roll sort clip tile repeat transpose reshape expand_dims squeeze ravel copy : keeps
square                                              : keeps no-flags
cumsum                                              : keeps adds
ascontiguousarray zeros_like ones_like empty_like   : keeps

[functions of numpy.random]
rand randn random random_sample standard_normal     : type:sized
randint                                             : type:int64

[methods of Array]
astype                                              : casts
copy reshape transpose flatten ravel squeeze clip repeat swapaxes round : keeps
all any argmax argmin argsort cumprod cumsum diagonal dot fill item max mean min nonzero prod put searchsorted : other
sort std sum take tolist trace var view resize      : other
"""


@cache
def _rows() -> dict[str, Operator]:
    return {
        f"{of}.{name}": Operator(f"{of}.{name}", dict(facets))
        for homes, names, facets in parse_rows(ARRAYS)
        for _, of in homes
        for name in names
    }


def array_row(name: str) -> Operator | None:
    """The row of a function of numpy (`numpy.zeros`) or of a method (`Array.astype`); None if it has none."""
    return _rows().get(name)
