"""Values that are made or passed on by a function of some kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from rewriting.code import (
    Additions,
    Store,
    Stores,
    comment_of,
    import_lines,
    imported_names,
    is_portable,
    parameters,
    statements,
    stores,
    text_of,
)
from rewriting.rewriting import Kind, Rewriting, changed, parsed

if TYPE_CHECKING:
    from rewriting.marks import Files

_SAME = "def same(value):\n    return value\n"


def _marked_return(code: str, mark: str) -> str:
    return f"    return {code}" + (f"  {mark}" if mark else "")


def _definition(name: str, taken: list[str], store: Store, decorator: str = "") -> str:
    """A function that makes the value."""
    head = f"{decorator}\n" if decorator else ""
    return f"{head}def {name}({', '.join(taken)}):\n{_marked_return(store.code, store.mark)}\n"


def _maker(store: Store) -> str:
    return f"make_{store.function.name.strip('_')}_{store.name.strip('_')}"


def _name(store: Store, added: list[str]) -> str:
    """A name for the function that makes the value, which no other one has yet."""
    name = _maker(store)
    while any(f"def {name}(" in definition for definition in added):
        name += "_"
    return name


# Passed through a function that returns what it is given.


def _through_function(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code):
        return None
    added.module.append(_SAME)
    return f"{store.target} = same({store.code})"


def _through_lambda(store: Store, added: Additions) -> str | None:
    return f"{store.target} = (lambda value: value)({store.code})" if is_portable(store.code) else None


def _through_nested(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code):
        return None
    name = store.function.fresh("same")
    return f"def {name}(value):\n    return value\n\n{store.target} = {name}({store.code})"


def _through_method(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    method = "def _same(self, value):\n    return value\n"
    if method not in added.methods:
        added.methods.append(method)
    return f"{store.target} = {function.self_name}._same({store.code})"


def _through_static(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    method = "@staticmethod\ndef _same(value):\n    return value\n"
    if method not in added.methods:
        added.methods.append(method)
    return f"{store.target} = {function.self_name}._same({store.code})"


def _through_loop(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code):
        return None
    added.module.append("def each(*values):\n    yield from values\n")
    name = store.function.fresh("value")
    return f"for {name} in each({store.code}):\n    {store.target} = {name}"


# Made by a function.


def _by_function(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code) or store.function.is_inner:
        return None
    name, free = _name(store, added.module), store.free()
    added.module.append(_definition(name, free, store))
    return f"{store.target} = {name}({', '.join(free)})"


def _by_keyword(store: Store, added: Additions) -> str | None:
    """By a function whose arguments are all given by keyword, in another order."""
    if not is_portable(store.code) or store.function.is_inner or not store.free():
        return None
    name, free = _name(store, added.module), store.free()
    added.module.append(_definition(name, ["*", *free], store))
    return f"{store.target} = {name}({', '.join(f'{each}={each}' for each in reversed(free))})"


def _by_nested(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code) or "nonlocal" in text_of(store.function.node):
        return None
    name = store.function.fresh("make")
    return f"def {name}():\n{_marked_return(store.code, '')}\n\n{store.target} = {name}()"


def _by_lambda(store: Store, added: Additions) -> str | None:
    if not is_portable(store.code):
        return None
    name = store.function.fresh("make")
    return f"{name} = lambda: {store.code}\n{store.target} = {name}()"


def _by_method(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    name = _name(store, added.methods)
    taken = [each for each in store.free() if each != function.self_name]
    added.methods.append(_definition(name, [function.self_name, *taken], store))
    return f"{store.target} = {function.self_name}.{name}({', '.join(taken)})"


def _by_static(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    if function.self_name in store.free():
        return None
    name = _name(store, added.methods)
    added.methods.append(_definition(name, store.free(), store, "@staticmethod"))
    return f"{store.target} = {function.self_name}.{name}({', '.join(store.free())})"


def _by_classmethod(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    if function.self_name in store.free():
        return None
    name = _name(store, added.methods)
    added.methods.append(_definition(name, ["cls", *store.free()], store, "@classmethod"))
    return f"{store.target} = {function.self_name}.{name}({', '.join(store.free())})"


def _by_property(store: Store, added: Additions) -> str | None:
    function = store.function
    if not function.is_plain or not function.is_method or not is_portable(store.code):
        return None
    if store.free() not in ([], [function.self_name]):
        return None
    name = _name(store, added.methods)
    added.methods.append(_definition(name, [function.self_name], store, "@property"))
    return f"{store.target} = {function.self_name}.{name}"


def _by_local_function_of_steps(store: Store, added: Additions) -> str | None:
    """By a function that keeps it as a local before it returns it."""
    if not is_portable(store.code) or store.function.is_inner:
        return None
    name, free = _name(store, added.module), store.free()
    end = f"  {store.mark}" if store.mark else ""
    added.module.append(f"def {name}({', '.join(free)}):\n    made_ = {store.code}{end}\n    return made_{end}\n")
    return f"{store.target} = {name}({', '.join(free)})"


# Functions of other files.


def _elsewhere(files: Files) -> dict[str, str] | None:
    """Made by a function of another file, which imports what the first file imports."""
    result = dict(files)
    for path, text in files.items():
        module = parsed(text) if path.endswith(".py") and "/" not in path else None
        if module is None:
            continue
        rewritten = module.visit(_Elsewhere(path, module))
        result[path] = rewritten.code
    return changed(files, _split(result))


class _Elsewhere(Stores):
    """Leaves the functions for the other file behind a line that `_split` knows."""

    def __init__(self, path: str, module: cst.Module) -> None:
        super().__init__(self._by_other_file)
        self._file = f"{path[:-3]}_made"
        self._imports = import_lines(module)
        self._imported = imported_names(module)
        self._builtins = set(dir(__builtins__)) | set(__builtins__ if isinstance(__builtins__, dict) else ())

    def _by_other_file(self, store: Store, added: Additions) -> str | None:
        if not is_portable(store.code) or store.function.is_inner:
            return None
        if not store.outer() <= self._imported | self._builtins:
            return None
        name, free = _name(store, added.elsewhere), store.free()
        added.elsewhere.append(_definition(name, free, store))
        added.imports.append(f"from {self._file} import {name}")
        return f"{store.target} = {name}({', '.join(free)})"

    def leave_Module(self, original: cst.Module, module: cst.Module) -> cst.Module:
        definitions = self._additions[0].elsewhere
        module = super().leave_Module(original, module)
        if not definitions:
            return module
        other = "\n".join([_CUT.format(self._file), *self._imports, "\n", "\n\n".join(definitions)])
        return module.with_changes(footer=[cst.EmptyLine(indent=False)], body=[*module.body, *statements(other)])


_CUT = '"{}.py begins here"'


def _split(files: dict[str, str]) -> dict[str, str]:
    """Each file that has been left behind another one, in its place."""
    result = {}
    for path, text in files.items():
        other = f"{path.removesuffix('.py')}_made.py"
        first, cut, second = text.partition(f'"{other} begins here"\n')
        result[path] = first
        if cut:
            result[other] = second
    return result


def _same_elsewhere(files: Files) -> dict[str, str] | None:
    """Passed through a function of another file."""

    def through(store: Store, added: Additions) -> str | None:
        if not is_portable(store.code):
            return None
        added.imports.append("from passing import same")
        return f"{store.target} = same({store.code})"

    result = stores(through)(files)
    return result and {**result, "passing.py": _SAME}


class _StepByStep(cst.CSTTransformer):
    """The first local of a method is kept on `self` by a method of its own."""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_ClassDef(self, original: cst.ClassDef, node: cst.ClassDef) -> cst.ClassDef:
        body: list[cst.CSTNode] = []
        for part in node.body.body:
            body += self._split(part) if isinstance(part, cst.FunctionDef) else [part]
        return node.with_changes(body=node.body.with_changes(body=body))

    def _split(self, function: cst.FunctionDef) -> list[cst.CSTNode]:
        names = parameters(function)
        if function.decorators or not names or names[0] != "self" or function.name.value.startswith("__"):
            return [function]
        lines = list(function.body.body)
        found = ((number, _first_local(function, line)) for number, line in enumerate(lines))
        number, store = next(((number, store) for number, store in found if store is not None), (0, None))
        if store is None or not is_portable(store.code):
            return [function]
        if text_of(function).count(f" {store.target} = ") > 1 or f"for {store.target}" in text_of(function):
            return [function]
        kept, keep = f"self.kept_{store.target}", f"_keep_{function.name.value}"
        taken = [name for name in store.free() if name != "self"]
        (call,) = statements(f"self.{keep}({', '.join(taken)})", store.mark)
        body = [*lines[:number], call, *lines[number + 1 :]]
        function = function.with_changes(body=function.body.with_changes(body=body))
        renamed = function.visit(_Replaced(store.target, kept))
        (method,) = statements(f"def {keep}({', '.join(['self', *taken])}):\n    {kept} = {store.code}", store.mark)
        return [method.with_changes(leading_lines=function.leading_lines), renamed]


def _first_local(function: cst.FunctionDef, line: cst.CSTNode) -> Store | None:
    from rewriting.code import Function

    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    statement = line.body[0]
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    if not isinstance(target, cst.Name) or target.value in parameters(function):
        return None
    if isinstance(statement.value, (cst.Name, cst.Integer, cst.List, cst.Dict)):
        return None
    # A layer that is kept on a layer becomes a part of it.
    if isinstance(statement.value, cst.Call) and text_of(statement.value.func).rpartition(".")[2][:1].isupper():
        return None
    return Store(Function(function, True, False), target.value, statement.value, comment_of(line))


class _Replaced(cst.CSTTransformer):
    """One name by an attribute."""

    def __init__(self, name: str, attribute: str) -> None:
        self._name = name
        self._attribute = cst.parse_expression(attribute)

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        return None

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.Attribute:
        return node.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, node: cst.Arg) -> cst.Arg:
        return node.with_changes(keyword=original.keyword)

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.BaseExpression:
        return self._attribute if node.value == self._name else node


def _kept(files: Files) -> dict[str, str] | None:
    result = dict(files)
    for path, text in files.items():
        module = parsed(text) if path.endswith(".py") else None
        if module is not None:
            result[path] = module.visit(_StepByStep()).code
    return changed(files, result)


REWRITINGS = (
    Rewriting("passed through a function", Kind.MOVE, stores(_through_function)),
    Rewriting("passed through a function of another file", Kind.MOVE, _same_elsewhere),
    Rewriting("passed through a nested function", Kind.MOVE, stores(_through_nested)),
    Rewriting("passed through a lambda", Kind.MOVE, stores(_through_lambda)),
    Rewriting("passed through a method", Kind.MOVE, stores(_through_method)),
    Rewriting("passed through a static method", Kind.MOVE, stores(_through_static)),
    Rewriting("passed through a generator", Kind.MOVE, stores(_through_loop)),
    Rewriting("made by a function", Kind.MOVE, stores(_by_function)),
    Rewriting("made by a function with keywords", Kind.MOVE, stores(_by_keyword)),
    Rewriting("made by a function with a local", Kind.MOVE, stores(_by_local_function_of_steps)),
    Rewriting("made by a function of another file", Kind.MOVE, _elsewhere),
    Rewriting("made by a nested function", Kind.MOVE, stores(_by_nested)),
    Rewriting("made by a lambda", Kind.MOVE, stores(_by_lambda)),
    Rewriting("made by a method", Kind.MOVE, stores(_by_method)),
    Rewriting("made by a static method", Kind.MOVE, stores(_by_static)),
    Rewriting("made by a class method", Kind.MOVE, stores(_by_classmethod)),
    Rewriting("made by a property", Kind.MOVE, stores(_by_property)),
    Rewriting("a local kept on self by another method", Kind.MOVE, _kept),
)
