"""Values in words: what the abstract domain knows of a value, as facets that do not change with the engine's insides.

A value is one of several alternatives, joined by ` or `; each has facets, joined by `, `. No alternative at all is
`never`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import (
    Bound,
    ClassRef,
    Constant,
    Counter,
    Derived,
    Filler,
    FunctionRef,
    Length,
    Number,
    Outside,
    Plain,
    Prepared,
    Shape,
    Site,
    Super,
    SymbolicInput,
    Tensor,
    Unknown,
    function_of,
)
from modellint.flow.heap import TENSORS, Shell
from modellint.flow.tensor_devices import ElementType, Fresh, Moved, TensorDevice, There
from modellint.graph.size import Size
from modellint.graph.value import Nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, Ids, Positions, Sizes
    from modellint.link.classes.models import ClassModel

#: A value for which there is no atom, and one of which nothing is known.
NEVER, UNKNOWN = "never", "unknown"
#: Where tensors are: on one of two devices, or perhaps on either.
THERE, DEFAULT, EITHER = "on the layer's device", "on the default device", "on either device"
#: The length to which the text of a constant is cut.
_MAX_TEXT = 60
#: The most kinds of things in a container that are told.
_MAX_KINDS = 4
#: A comma that is not between the sizes of a tensor.
_BETWEEN_FACETS = re.compile(r", (?![^[]*\])")

#: The facets of the alternatives of a value.
Facets = tuple[tuple[str, ...], ...]


def facets(values: Iterable[Atoms], device: str = "") -> Facets:
    """The alternatives of a value that has these atoms in several runs; its tensors are on a device, if that is known.

    >>> facets([(Constant(3),), (Constant(None),)])
    (('3',), ('None',))
    """
    atoms = dict.fromkeys(atom for found in values for atom in found)
    alternatives = dict.fromkeys(tuple(_facets(atom, device)) for atom in atoms)
    return tuple(alternatives)


def text(alternatives: Facets) -> str:
    """The alternatives of a value as one text."""
    return " or ".join(", ".join(alternative) for alternative in alternatives) or NEVER


def holds(expected: str, found: Facets) -> bool:
    """True if a text is true of a value: it may leave out facets, but no alternative.

    >>> holds("ids below 4", (("ids below 4", "sizes [2]"),))
    True
    """
    wanted, known = _sets(expected), _sets(text(found))
    return all(any(one <= other for other in known) for one in wanted) and all(
        any(one <= other for one in wanted) for other in known
    )


def _sets(alternatives: str) -> list[frozenset[str]]:
    return [frozenset(_BETWEEN_FACETS.split(part)) for part in alternatives.split(" or ")]


def device_of(values: Iterable[Atoms]) -> str:
    """Where a value with these atoms is while its layer works, or which device it is; empty if that is not known."""
    found: set[str] = set()
    for atoms in values:
        for atom in atoms:
            if isinstance(atom, There | Derived) or (isinstance(atom, Shell) and atom.kind in TENSORS):
                found.add(THERE)
            elif isinstance(atom, Fresh):
                found.add(DEFAULT)
            elif isinstance(atom, TensorDevice):
                found.add(_plain(atom))
            elif not isinstance(atom, Constant):
                return ""
    if len(found) > 1:
        return EITHER if found <= {THERE, DEFAULT} else ""
    return found.pop() if found else ""


def _facets(atom: Atom, device: str) -> Iterator[str]:
    """The facets of an alternative, its kind first."""
    if isinstance(atom, Tensor):
        yield from _of_tensor(atom)
    elif isinstance(atom, Shell):
        yield from _of_object(atom)
    elif isinstance(atom, SymbolicInput):
        yield f"argument {atom.name}" if atom.name else "tensor"
        yield from ("not None",) if atom.is_there else ()
    elif device and isinstance(atom, Plain | Unknown):
        yield from ("tensor",) if device.startswith("on ") else ()
    else:
        yield _in_words(atom)
    if device and not isinstance(atom, Constant):
        yield device


def _of_tensor(tensor: Tensor) -> Iterator[str]:
    if tensor.ids is not None:
        yield from _of_ids(tensor.ids)
    if tensor.positions is not None:
        yield from _of_positions(tensor.positions)
    if tensor.real is not None:
        yield "real numbers"
    if tensor.ids is None and tensor.positions is None and tensor.real is None:
        yield "tensor"
    yield from map(_filler, tensor.fillers)
    yield from _of_sizes(tensor.sizes)
    if tensor.sizes is None and tensor.width is not None:
        yield f"width {_size(tensor.width)}"
    if tensor.joined is not None:
        yield f"joined along {tensor.joined}"
    if tensor.extent is not None:
        yield "state of earlier calls" if tensor.extent.is_grown else "as long as a length"
    if tensor.is_cut:
        yield "of limited length"
    if tensor.is_conditional:
        yield "on some paths"


def _of_ids(ids: Ids) -> Iterator[str]:
    yield f"ids below {_size(ids.bound)}"
    if ids.excluded:
        yield "without some ids"
    if ids.part is not None:
        yield f"part {ids.part}"


def _of_positions(positions: Positions) -> Iterator[str]:
    yield "running total" if positions.is_total else "positions"
    if positions.length is not None:
        yield f"below {_source_text(positions.length)}"
    if positions.is_ahead:
        yield "shifted"


def _filler(filler: Filler) -> str:
    return f"{'perhaps' if filler.is_conditional else 'some'} {_size(filler.size)}"


def _of_sizes(known: Sizes | None) -> Iterator[str]:
    if known is not None:
        yield f"sizes [{', '.join(map(_one_size, known))}]"


def _one_size(size: Size | Length | None) -> str:
    return _size(size) if isinstance(size, Size) else "?" if size is None else _source_text(size.origin)


def _of_object(shell: Shell) -> Iterator[str]:
    if shell.is_container:
        is_counted = shell.is_exact and not any(entry.path for entry in shell.entries)
        yield f"{shell.kind} of {len(shell.entries)}" if is_counted else shell.kind
        yield from _contents(shell)
    elif shell.model is not None and shell.kind == "instance":
        kind = {True: "layer", False: "object", None: "object"}[shell.model.is_module]
        yield f"{kind} {_class(shell.model)}"
        yield from _contents(shell) if shell.is_module_container else ()
    elif shell.kind in TENSORS:
        yield shell.kind
        yield from _of_sizes(sizes.of((shell,)))
    else:
        yield "layer" if shell.is_layer else shell.kind


def _contents(container: Shell) -> Iterator[str]:
    """The kinds of things in a container, if they are few."""
    kinds = dict.fromkeys(next(_facets(atom, "")) for entry in container.entries for atom in entry.atoms)
    if len(kinds) <= _MAX_KINDS:
        yield from (f"holding {kind}" for kind in kinds)


def _in_words(atom: Atom) -> str:
    """The kind of an atom that is neither a tensor nor an object."""
    if isinstance(atom, Constant):
        written = repr(atom.value)
        return written if len(written) <= _MAX_TEXT else f"{written[: _MAX_TEXT - 3]}..."
    if isinstance(atom, Number):
        return _size(atom.size)
    if isinstance(atom, Counter):
        return "counter" if atom.end is None else f"counter below {atom.end}"
    if isinstance(atom, Length):
        return f"{'number from ' if atom.is_made else ''}length {_source_text(atom.origin)}"
    if isinstance(atom, Shape):
        return ", ".join(("shape", *_of_sizes(atom.tensor.sizes)))
    if isinstance(atom, ClassRef):
        return f"class {_class(atom.model)}{_with_arguments(atom.arguments)}"
    if isinstance(atom, FunctionRef):
        return f"{_function(atom)}{_with_arguments(atom.arguments)}"
    if isinstance(atom, Outside):
        return f"{atom.name}{_with_arguments(atom.arguments) if isinstance(atom, Prepared) else ''}"
    if isinstance(atom, Derived):
        return f"made of a parameter by {atom.operation}"
    if isinstance(atom, Super):
        return "super()"
    if isinstance(atom, Bound):
        return f"{atom.name} of {_of_owner(atom)}"
    if isinstance(atom, Plain):
        return _plain(atom)
    return UNKNOWN if isinstance(atom, Unknown) else type(atom).__name__


def _plain(atom: Plain) -> str:
    if isinstance(atom, Fresh):
        return f"tensor, {DEFAULT}"
    if isinstance(atom, TensorDevice):
        return "the layer's device" if atom.is_there else "the default device"
    if isinstance(atom, Moved):
        return "moved tensor"
    if isinstance(atom, ElementType):
        return "element type"
    return f"device {atom.device}" if atom.device else "plain value"


def _of_owner(atom: Bound) -> str:
    return next(_facets(atom.owner, ""))


def _function(atom: FunctionRef) -> str:
    if isinstance(atom.code, Nested):
        return "inner function"
    function = function_of(atom.code)
    return "function" if function is None else f"{'method' if function.owner else 'function'} {function.qualname}"


def _with_arguments(arguments: Arguments) -> str:
    """The facet of a class or function whose first arguments are given: `functools.partial(f, x)`."""
    return ", with arguments" if any(True for _ in arguments.all()) else ""


def _class(model: ClassModel) -> str:
    return model.name if model.cls is None else model.cls.qualname


def _size(size: Size) -> str:
    return size.described.replace("`", "")


def _source_text(site: Site) -> str:
    return site.module.text_of(site.value) if site.function is not None else "?"
