"""Checkpoints that code loads from files which are there, and the classes that take them.

Nothing is loaded: a path is followed to the constant or the `os.path.join` that makes it, and a file counts if it lies
where the script or the project is. A state that the code changes on the way is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modellint import operators
from modellint.flow.queries.answers import flow
from modellint.flow.queries.calls import Call
from modellint.flow.queries.layers import may_have
from modellint.flow.queries.values import called_names
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.finding import Place
    from modellint.flow.queries.values import Operand
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The functions that load a file of tensors.
LOADERS = ("torch.load", "safetensors.torch.load_file")
_JOINS = ("os.path.join", "posixpath.join")
_PATHS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "builtins.str", "os.fspath", "os.fsdecode")
_FOLDERS = ("os.path.dirname", "posixpath.dirname")
_SAME = ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser")
_OPENS = ("builtins.open", "io.open")
_SAME_METHODS = frozenset(("resolve", "absolute", "as_posix", "expanduser"))
#: Methods of a dict that change nothing in it.
_READING = frozenset(("keys", "values", "items", "get", "copy", "__len__", "__contains__"))
#: Methods that copy what they are given.
_COPYING = ("load_state_dict", "from_pretrained")
_HARMLESS = frozenset(("builtins.len", "builtins.print", "builtins.list", "builtins.sorted", "builtins.type"))
#: Methods of modules that return the module.
_ITSELF = operators.methods("Module", "itself")
_DEEPEST = 6


class LoadedFile(NamedTuple):
    """A call that loads a file which is there, and the keys of the part of it that is meant."""

    call: Call
    path: Path
    keys: tuple[str, ...] = ()


class LoadedState(NamedTuple):
    """A call of `load_state_dict` on objects of a class of the project, with the file that the state is of.

    `is_strict` is None if that depends on a value.
    """

    call: Call
    cls: Class
    file: LoadedFile
    is_strict: bool | None


def path_from(place: Place, path: Path) -> str:
    """The path of a file or folder from the folder of the file that `place` lies in."""
    return os.path.relpath(path, os.path.dirname(place.path))


def loaded_files(module: ModuleFacts, project: Project) -> Iterator[LoadedFile]:
    """The calls of a file that load one which is there."""
    if "load" not in module.text:
        return
    for call in flow(module, project).calls(*LOADERS):
        argument = call.argument(0, "f") or call.argument(0, "filename")
        path = None if argument is None else path_of(argument)
        if path is not None:
            yield LoadedFile(call, path)


def loaded_states(module: ModuleFacts, project: Project) -> Iterator[LoadedState]:
    """The states that objects of the project's classes get from a file which is there."""
    if "load_state_dict" not in module.text:
        return
    for call in flow(module, project).calls():
        callee = call.value.callee
        if callee.op is not Op.ATTR or callee.data != "load_state_dict":
            continue
        state, model = call.argument(0, "state_dict"), _class_behind(call.callee.of(callee.args[0]))
        if state is None or model is None or model.cls is None or not model.is_module:
            continue
        if model.facts.has_method("load_state_dict") or model.facts.has_method("_load_from_state_dict"):
            continue
        files = [_file_of(origin, call) for origin in state.origins(through_operators=False)]
        found = files[0] if files else None
        if found is not None and all(one is not None and one[1:] == found[1:] for one in files):
            yield LoadedState(call, model.cls, found, _is_strict(call))


def _class_behind(value: Operand) -> ClassModel | None:
    """The class of an object, also behind methods of modules that return it: `Net().to(device).eval()`."""
    for _ in range(_DEEPEST):
        found = value.object_class()
        if found is not None:
            return found
        made = list(value.origins(through_operators=False))
        callee = made[0].value.callee if len(made) == 1 and made[0].value.op is Op.CALL else None
        if callee is None or callee.op is not Op.ATTR or callee.data not in _ITSELF:
            return None
        value = made[0].of(callee.args[0])
    return None


def _is_strict(call: Call) -> bool | None:
    strict = call.argument(1, "strict")
    if strict is None:
        return True
    return strict.value.data if strict.value.op is Op.CONST and isinstance(strict.value.data, bool) else None


def _file_of(origin: Operand, use: Call) -> LoadedFile | None:
    """The file that a state is of; None if it is none, or the code changes what it has loaded."""
    project = origin.project
    call = Call.at(origin.value, origin.function, project)
    if call is None or call.names.isdisjoint(LOADERS):
        return None
    argument = call.argument(0, "f") or call.argument(0, "filename")
    path = None if argument is None else path_of(origin.of(argument.value))
    keys = origin.part if isinstance(origin.part, tuple) else () if origin.part is None else (origin.part,)
    texts = tuple(key for key in keys if isinstance(key, str))
    if path is None or len(texts) != len(keys) or _is_changed(origin, use):
        return None
    return LoadedFile(call, path, texts)


def _is_changed(origin: Operand, use: Call) -> bool:
    """True if a function that a value goes through, from the call that makes it to its use, may change it."""
    given = use.argument(0, "state_dict")
    if given is None or any(part.op is Op.UPDATE for part in given.value.walk()):
        return True
    places, context = [(origin.value, origin.function)], origin.context
    while context is not None:
        places.append((context.call.value, context.call.function))
        context = context.outer
    return any(_is_changed_in(function, value, origin, use) for value, function in places)


def is_left_alone(display: Operand, given: Operand, use: Call) -> bool:
    """True if no function of the file may change a dict or list that is written out in it, before or after a use.

    `given` is the operand of the use that the display was found for.
    """
    module = display.function.module
    names = frozenset(part.data for part in given.value.walk() if part.op is Op.GLOBAL)
    if display.function is module.body and not names and given.value is not display.value:
        return False  # by another name
    functions = module.placed.values()
    return not any(_is_changed_in(function, display.value, display, use, names) for function in functions)


def _is_changed_in(
    function: Function, value: Value, origin: Operand, use: Call, names: frozenset[str] = frozenset()
) -> bool:
    """True if a function may change a value, or something in it, itself or by the name of a global variable."""

    def is_it(part: Value) -> bool:
        # The value of a global variable is made again for each function that reads it.
        is_same = part is value or (part.at == value.at != 0 and part.op is value.op)
        return is_same or (part.op is Op.GLOBAL and part.data in names)

    return any(
        _may_change(event, is_it, origin.of(value))
        for event in function.flow.events
        if event.value is not value and event.value is not use.value
    )


def _may_change(event: Event, is_it: Callable[[Value], bool], origin: Operand) -> bool:
    """True if an event may change a value, or something in it."""
    if event.target is not None and any(is_it(part) for part in event.target.walk()):
        return True
    if not any(is_it(part) for part in event.value.walk()):
        return False
    if event.kind in (EventKind.INDEX, EventKind.COMPARE, EventKind.RETURN):
        return event.value.op is Op.UPDATE
    if event.kind is not EventKind.CALL:
        return True
    callee = event.value.callee
    if callee.op is Op.ATTR and callee.data in _COPYING:
        return False
    if callee.op is Op.ATTR and any(is_it(part) for part in callee.walk()):
        return callee.data not in _READING
    return called_names(origin.of(event.value)).isdisjoint(_HARMLESS)


# -- names of tensors ------------------------------------------------------------------------------------------------


def foreign_names(cls: Class, names: Iterable[str], project: Project) -> list[str]:
    """The names of tensors for which objects of a class certainly have no attribute."""
    known: dict[tuple[str, ...], bool] = {}
    return [name for name in names if not _may_hold(cls, tuple(name.split(".")), project, known, ())]


def _may_hold(
    cls: Class, parts: tuple[str, ...], project: Project, known: dict[tuple[str, ...], bool], above: tuple[str, ...]
) -> bool:
    here = (*above, parts[0])
    if here not in known:
        known[here] = may_have(cls, parts[0], project)
    if not known[here] or len(parts) == 1 or len(here) > _DEEPEST:
        return known[here]
    inner = _class_of(cls, parts[0], project)
    return inner is None or _may_hold(inner, parts[1:], project, known, here)


def _class_of(cls: Class, name: str, project: Project) -> Class | None:
    """The class of the project that an attribute's object certainly is of."""
    values = flow(cls.module, project).attribute(cls, name)
    models = [value.object_class() for value in values]
    if len(models) != 1 or models[0] is None or models[0].cls is None or not models[0].is_module:
        return None
    return models[0].cls


def missing_children(cls: Class, names: Iterable[str], project: Project) -> list[str]:
    """The attributes with parameters that each object of a class registers, and that no name begins with."""
    first = {name.partition(".")[0] for name in names}
    queries = flow(cls.module, project)
    children = {name for name, child in queries.children(cls).items() if child.has_parameters and name not in first}
    if not children:
        return []
    stores = [store for store in queries.stores(cls) if store.name in children]
    doubtful = {store.name for store in stores if store.path}
    certain = {store.name for store in stores} - doubtful
    return sorted(name for name in children if name in certain)


class Sized(NamedTuple):
    """A layer in an attribute whose weight has a shape that its constructor gives."""

    name: str
    layer: str
    shape: tuple[int, int]
    place: Place


def sized_layers(cls: Class, project: Project) -> Iterator[Sized]:
    """The linear layers and tables of a class's own attributes whose sizes are the same for all objects."""
    queries = flow(cls.module, project)
    for layer, first, second, is_turned in (
        ("torch.nn.Linear", "in_features", "out_features", True),
        ("torch.nn.Embedding", "num_embeddings", "embedding_dim", False),
    ):
        made = queries.constructed(layer)
        for name in queries.children(cls):
            values = queries.attribute(cls, name)
            origins = [origin for value in values for origin in value.origins(through_operators=False)]
            if not origins or not all(origin.is_call_of((layer,)) for origin in origins):
                continue
            places = {value.place for value in (*values, *origins)}
            here = [one for one in made if one.place in places]
            sizes = {(one.argument(0, first).number, one.argument(1, second).number) for one in here}
            if len(sizes) != 1:
                continue
            (rows, columns) = sizes.pop()
            if isinstance(rows, int) and isinstance(columns, int):
                yield Sized(name, layer, (columns, rows) if is_turned else (rows, columns), values[0].place)


# -- paths -----------------------------------------------------------------------------------------------------------


def path_of(value: Operand, *, is_folder: bool = False) -> Path | None:
    """The file (or folder) that a value names, if it is there: from the script, or from the top of the project."""
    written = _path_behind(value, 0)
    if written is None:
        return None
    project, files = value.project, value.project.files
    script = Path(value.function.module.path).parent
    tops = [script] if project.options.root == script else [script, project.options.root]
    is_there = files.is_dir if is_folder else files.exists
    found = [path for top in tops if is_there(path := top / written)]
    return found[0] if len(set(found)) == 1 else None


def _text_of(value: Operand, depth: int = 0) -> Path | None:
    """The path that a value is; None if it is unknown."""
    one, op = value.value, value.value.op
    if depth > _DEEPEST:
        return None
    if op is Op.ATTR and one.data == "parents" and value.part is not None:
        return _parent_of(value, depth)
    if value.part is not None:
        return None
    written = _string_of(value, depth)
    if written is not None:
        return Path(written) if written and "\0" not in written else None
    if op is Op.GLOBAL and one.data == "__file__":
        return Path(value.function.module.path)
    if op is Op.BIN and one.data == "/" and len(one.args) == 2:
        return _join([_path_behind(value.of(part), depth) for part in one.args])
    if op is Op.ATTR and one.data == "parent":
        inner = _path_behind(value.of(one.args[0]), depth)
        return None if inner is None else inner.parent
    if op is not Op.CALL:
        return None
    return _of_call(value, depth)


def _parent_of(value: Operand, depth: int) -> Path | None:
    """The path that `path.parents[number]` is."""
    path = _path_behind(value.of(value.value.args[0]), depth)
    number = value.part[0] if isinstance(value.part, tuple) and len(value.part) == 1 else value.part
    if path is None or type(number) is not int or not 0 <= number < len(path.parents):
        return None
    return path.parents[number]


def _string_of(value: Operand, depth: int) -> str | None:
    """The text that a value is: a constant, or put together of constants and paths; None if it is none, or unknown."""
    one, op = value.value, value.value.op
    if op is Op.CONST:
        return one.data if isinstance(one.data, str) else None
    if op is Op.STRING:
        varying = iter(one.args)
        parts = [text if text is not None else _part_of(value.of(next(varying)), depth) for text in one.data or (None,)]
    elif op is Op.BIN and one.data == "+":
        parts = [_string_behind(value.of(part), depth) for part in one.args]
    elif op is Op.BIN and one.data == "%":
        form, given = one.args
        inner = given.args if given.op is Op.TUPLE else (given,)
        return _fill(form, [_part_of(value.of(part), depth) for part in inner], "%s")
    elif op is Op.CALL and one.callee.op is Op.ATTR and one.callee.data == "format" and not one.keywords:
        return _fill(one.callee.args[0], [_part_of(value.of(part), depth) for part in one.positional], "{}")
    else:
        return None
    known = [part for part in parts if part is not None]
    return "".join(known) if len(known) == len(parts) else None


def _string_behind(value: Operand, depth: int) -> str | None:
    """The text that all origins of a value are; None if it is unknown."""
    if depth >= _DEEPEST:
        return None
    texts = {_string_of(origin, depth + 1) for origin in value.origins(through_operators=False) if origin.part is None}
    return texts.pop() if len(texts) == 1 else None


def _part_of(value: Operand, depth: int) -> str | None:
    """A text, a whole number or a path, as it is written into a text."""
    if value.value.op is Op.CONST and type(value.value.data) is int:
        return str(value.value.data)
    text = _string_behind(value, depth)
    if text is not None:
        return text
    path = _path_behind(value, depth)
    return None if path is None else str(path)


def _fill(form: Value, parts: list[str | None], mark: str) -> str | None:
    """A constant text with its marks, `%s` or `{}`, replaced by parts."""
    known = [part for part in parts if part is not None]
    if form.op is not Op.CONST or not isinstance(form.data, str) or len(known) < len(parts):
        return None
    texts = form.data.split(mark)
    if len(texts) != len(known) + 1 or any(mark[0] in text for text in texts):
        return None
    return texts[0] + "".join(part + text for part, text in zip(known, texts[1:], strict=True))


def _of_call(value: Operand, depth: int) -> Path | None:
    names, callee = called_names(value), value.value.callee
    if not names.isdisjoint(_OPENS) and value.value.positional:
        return _path_behind(value.of(value.value.positional[0]), depth)
    if value.value.keywords:
        return None
    parts = [_path_behind(value.of(part), depth) for part in value.value.positional]
    if not names.isdisjoint((*_JOINS, *_PATHS)):
        return _join(parts)
    if len(parts) == 1 and not names.isdisjoint(_SAME):
        return parts[0]
    if len(parts) == 1 and not names.isdisjoint(_FOLDERS):
        return None if parts[0] is None else parts[0].parent
    if callee.op is not Op.ATTR:
        return None
    if callee.data in _SAME_METHODS and not parts:
        return _path_behind(value.of(callee.args[0]), depth)
    if callee.data == "joinpath":
        return _join([_path_behind(value.of(callee.args[0]), depth), *parts])
    if callee.data in ("with_name", "with_suffix") and len(parts) == 1:
        path, text = _path_behind(value.of(callee.args[0]), depth), _string_behind(value.of(value.value.args[1]), depth)
        try:
            return None if path is None or text is None else getattr(path, callee.data)(text)
        except ValueError:
            return None
    return None


def _path_behind(value: Operand, depth: int) -> Path | None:
    """The path that all origins of a value are; None if it is unknown."""
    paths = {_text_of(origin, depth + 1) for origin in value.origins(through_operators=False)}
    return paths.pop() if len(paths) == 1 else None


def _join(parts: list[Path | None]) -> Path | None:
    known = [part for part in parts if part is not None]
    return Path(*known) if parts and len(known) == len(parts) else None
