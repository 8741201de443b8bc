"""A filter for functions of a file that may build optimizers: they mention `torch.optim`, or one another.

Only its False is certain.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from modellint.flow.training import GIVING, OPTIMIZERS, SETTLING, may_be_optimizer
from modellint.graph.value import Nested, Op, walk_all
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External
from modellint.link.remembered import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Flow, Value
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: The name of torch's module of optimizers, which code mentions unless it was imported under another name.
_PART = OPTIMIZERS.strip(".").rpartition(".")[2]
_WORD = re.compile(rf"\b{_PART}\b")
#: How many files a builder is followed through, where one file imports it from the next.
_MAX_FILES = 3


class OptimizerBuilders:
    """The functions of a file that may build optimizers.

    `first` are those that may also ask layers for their parameters, `others` those that may be passed them; callers
    stand before callees.
    """

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        found = _Reaching(module, project, _MAX_FILES, hands_on=False)
        functions = (module.body, *module.all_functions())
        builders = [function for function in functions if self.says(found.names, function)]
        builders = sorted(builders, key=lambda function: _is_called(function, builders))
        asking = found.asking if builders else set()
        self.first = [function for function in builders if self.speaks_of(asking, function)]
        self.others = [function for function in builders if function not in self.first]

    @staticmethod
    def speaks_of(names: set[str], function: Function) -> bool:
        """True if a function mentions one of the names."""
        return bool(names) and not names.isdisjoint(function.words)

    @classmethod
    def says(cls, names: set[str], function: Function) -> bool:
        """True if the code of a function has one of the names, outside comments and the functions that it defines."""
        return cls.speaks_of(names, function) and not names.isdisjoint(_names_in_code(function))


def concerns(function: Function, project: Project) -> bool:
    """True if a function, or what it may call, mentions optimizers, or names that train or freeze parameters."""

    def training_names() -> frozenset[str]:
        return frozenset(_Reaching(function.module, project, _MAX_FILES, hands_on=False).training)

    names = project.once(("speaks of training", function.module), training_names, kept=NAMES)
    return not names.isdisjoint(function.words)


def _is_called(function: Function, others: list[Function]) -> bool:
    """True if one of the other functions may call the function."""
    name = function.name
    if name == "__init__" and function.owner is not None:
        name = function.owner.name
    return any(name in other.words for other in others if other is not function and other.name != "<module>")


class _Reaching:
    """The names by which the code of a file may reach optimizers; with `hands_on`, unused imports among them."""

    def __init__(self, module: ModuleFacts, project: Project, files: int, *, hands_on: bool = True) -> None:
        self._module = module
        self._project = project
        self.names = {name for name, target in module.imports.items() if may_be_optimizer(f"{target}.")}
        if _PART in module.text and _WORD.search(module.code):
            self.names.add(_PART)
        #: The imported names of the project that may build optimizers.
        self._imports: set[str] = set()
        imports = module.imports.keys() if hands_on else module.imports.keys() & self._mentioned_names()
        for name in imports if files else ():
            self._imports |= self._builders_of_import(name, files)
        for name in module.star_imports:
            self._imports |= self._builders_of_star_import(name, files)
        self.names |= self._imports
        self._own = self._add_mentioning(self.names) if self.names else set()

    @property
    def exported_builders(self) -> frozenset[str]:
        """The definitions and imports of the file through which other files may build optimizers."""
        return frozenset(self._own | (self.names & self._module.imports.keys()))

    @property
    def asking(self) -> set[str]:
        """The names by which the code of the file may ask layers for their parameters."""
        names = {*GIVING, *self._imports}
        self._add_mentioning(names)
        return names

    @property
    def training(self) -> set[str]:
        """The names by which the code of the file may reach optimizers, or change which parameters are trained."""
        names = {*self.names, *GIVING, *SETTLING, "requires_grad"}
        self._add_mentioning(names)
        return names

    def _add_mentioning(self, names: set[str]) -> set[str]:
        """Adds the definitions that mention one of the names, or one another, to `names`, and returns them."""
        definitions = list(self._definitions())
        found: set[str] = set()
        while True:
            more = {name for name, words, function in definitions if _mentions(words, function, names)} - found
            if not more:
                return found
            found |= more
            names |= more

    def _definitions(self) -> Iterator[tuple[str, frozenset[str], Function | None]]:
        """The definitions of the file with the names they mention; a class has those of its constructor and bases.

        Those of a function are the ones in its text, its comments and annotations among them.
        """
        for name, function in self._module.functions.items():
            yield name, function.words, function
        for cls in self._module.classes.values():
            yield cls.name, _words(cls.bases), None
            for name, method in cls.methods.items():
                yield (cls.name if name == "__init__" else name), method.words, method
            for name, value in cls.attributes.items():
                yield name, _words((value,)), None
        for name, value in self._module.constants.items():
            yield name, _words((value,)), None

    def _mentioned_names(self) -> set[str]:
        """The names that the file's own code mentions."""
        module = self._module
        values = list(module.body.flow.values)
        values += [value for function in module.all_functions() for value in function.signature.decorators]
        values += [value for cls in module.classes.values() for value in cls.head.decorators]
        return set(_words(values)).union(*(words for _, words, _ in self._definitions()))

    def _builders_of_import(self, name: str, files: int) -> set[str]:
        """The names, of an import, that may build optimizers: the imported name, or names behind it."""
        if not self._is_near(self._module.imports[name]):
            return set()
        definition = self._project.names.resolve(self._module, name)
        if isinstance(definition, External):
            return {name} if may_be_optimizer(f"{definition.name}.") else set()
        home = _home(definition)
        if home is None or home is self._module:
            return set()
        offered = _exported_builders(home, self._project, files - 1)
        if isinstance(definition, DefinedModule):
            return set(offered)
        if isinstance(definition, DefinedClass):
            cls = definition.cls
            return ({name} if cls.name in offered else set()) | (offered & cls.methods.keys())
        stands_for = definition.name if isinstance(definition, DefinedConstant) else name
        if isinstance(definition, DefinedFunction):
            stands_for = definition.function.name
        return {name} if stands_for in offered else set()

    def _builders_of_star_import(self, name: str, files: int) -> set[str]:
        """The names, of a star import, that may build optimizers."""
        if f"{name}.".startswith(OPTIMIZERS):
            return {word for function in self._module.all_functions() for word in function.words}
        if not files or not self._is_near(name):
            return set()
        other = self._project.names.find_module(name, self._module.file)
        return set() if other is None else set(_exported_builders(other, self._project, files - 1))

    def _is_near(self, name: str) -> bool:
        """True if an imported name belongs to the project itself."""
        top = name.partition(".")[0]
        if top == "torch" or top in sys.stdlib_module_names:
            return False
        names = self._project.names
        holding = names.path.holding(top, self._module.file)
        return bool(holding) and (names.path.is_installed(self._module) or holding[0] not in names.path.site_packages)


def _exported_builders(module: ModuleFacts, project: Project, files: int) -> frozenset[str]:
    """The names that may build optimizers among a file's definitions and imports."""
    if _PART not in module.text:
        return frozenset()
    return project.once(
        ("builds optimizers", module, files), lambda: _Reaching(module, project, files).exported_builders, kept=NAMES
    )


def _home(definition: Definition | None) -> ModuleFacts | None:
    """The module that a definition stands in; None if it cannot be read."""
    if isinstance(definition, DefinedModule | DefinedConstant):
        return definition.module
    if isinstance(definition, DefinedFunction):
        return definition.function.module
    return definition.cls.module if isinstance(definition, DefinedClass) else None


def _mentions(words: frozenset[str], function: Function | None, names: set[str]) -> bool:
    """True if the words of a definition are among the names; those of a function also without what only its text has.

    A comment or an annotation builds nothing. That is asked last, as it lowers the function.
    """
    if words.isdisjoint(names):
        return False
    return function is None or not names.isdisjoint(function.flow.once(_said_in, function))


def _said_in(_: Flow, function: Function) -> set[str]:
    return _names_in_code(function)


def _names_in_code(function: Function) -> set[str]:
    """The names, parameters, attributes and strings in the code of a function, dotted ones part by part."""
    signature = function.signature
    pending = [*function.flow.values, *signature.decorators]
    pending += [parameter.default for parameter in signature.parameters if parameter.default is not None]
    said: set[str] = set()
    seen: set[int] = set()  # functions inside that call themselves, or one another
    while pending:
        values = list(walk_all(pending))
        said.update(part for value in values if _says_name(value) for part in value.data.split("."))
        inner = {id(value.data): value.data for value in values if isinstance(value.data, Nested)}
        pending = [
            value
            for nested in (nested for key, nested in inner.items() if key not in seen)
            for value in (
                *(one.default for one in nested.head if one.default is not None),
                *(() if nested.flow is None else nested.flow.values),
            )
        ]
        seen.update(inner)
    return said


def _says_name(value: Value) -> bool:
    """True if a value has a name; `self.optim`, a parameter `optim` and the key "optim" are not torch's module."""
    if value.data == _PART:
        while value.op is Op.ATTR:
            value = value.args[0]
        return value.op is Op.GLOBAL
    return isinstance(value.data, str)


def _words(values: Iterable[Value]) -> frozenset[str]:
    """The global names and attributes in some values."""
    return frozenset(str(part.data) for part in walk_all(values) if part.op in (Op.GLOBAL, Op.ATTR))
