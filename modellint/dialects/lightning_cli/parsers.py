"""The keys of a parser of jsonargparse, as the code that adds them to it has them.

Sources: jsonargparse 4.53 (`_core.py`, `_signatures.py`, `_link_arguments.py`) and lightning 2.6 (`pytorch/cli.py`).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.classes import Callee, callee_of
from modellint.dialects.lightning_cli.parameters import (
    UNKNOWN,
    Field,
    Takes,
    constructor_fields,
    described_fields,
    function_fields,
    method_fields,
)
from modellint.dialects.lightning_cli.types import (
    ANYTHING,
    Either,
    Object,
    OneOf,
    Plain,
    Several,
    Type,
    object_type,
    read_type,
)
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.recipes.targets import resolve_definition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.source import Place

#: Methods of a parser that return a group, to which arguments are added as to the parser.
_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
_CONFIG_ACTIONS = frozenset(("ActionConfigFile", "ActionParser"))
_SEVERAL = frozenset(("*", "+"))
_FLAGS = frozenset(("store_true", "store_false"))
#: Methods of a parser that add no keys.
_HARMLESS = frozenset(
    (
        *(
            "parse_args",
            "parse_object",
            "parse_path",
            "parse_string",
            "instantiate_classes",
            "instantiate",
            "get_defaults",
        ),
        *(
            "print_help",
            "print_usage",
            "dump",
            "save",
            "error",
            "exit",
            "format_help",
            "get_config_files",
            "strip_meta",
        ),
        *("check_config", "validate", "add_instantiator", "parse_known_args", "parse_env", "get_default"),
    )
)


@dataclass(eq=False, slots=True)
class Section:
    """A key at the top of a configuration: a group of arguments, which `takes` keys, or a value of a type."""

    type: Type = ANYTHING
    takes: Takes | None = None
    callee: Callee | None = None
    is_required: bool = False
    owner: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """A link of arguments: the values at the `sources` give that of the `target`."""

    sources: tuple[tuple[str, Place], ...]
    target: str
    place: Place
    on_instantiate: bool


@dataclass(eq=False, slots=True)
class Parser:
    """The sections of a parser, and its links. Not all sections if it `is_open`.

    `given` are the keys that have a value from elsewhere, `files` the configurations that are loaded by default,
    `options` the options that name a configuration.
    """

    sections: dict[str, Section] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    is_open: bool = False
    given: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)

    def put(self, name: str, section: Section) -> None:
        """Add a section; one with a dotted name is a key of a group."""
        first, _, rest = name.partition(".")
        if not rest:
            self.sections[first] = section
            return
        known = self.sections.get(first)
        takes = known.takes if known is not None and known.takes is not None else Takes()
        inner, _, deeper = rest.partition(".")
        kind = ANYTHING if deeper or section.takes is not None else section.type
        fields = {**takes.fields, inner: Field(inner, kind, section.is_required and not deeper)}
        owner = known.owner if known is not None else first
        callee = known.callee if known is not None else None
        self.sections[first] = Section(takes=Takes(fields, takes.is_open), owner=owner, callee=callee)


def callee_in(value: Value, module: ModuleFacts, project: Project) -> Callee | None:
    """The class or function that a value in a file is; None if it is not known."""
    definition = project.names.definition(module, value) if value.op in (Op.GLOBAL, Op.ATTR) else None
    if definition is None:
        return None
    model = project.classes.of(definition)
    resolved = resolve_definition(definition, project)
    if model is not None:
        is_read = model.cls is not None
        takes = constructor_fields(model, project) if is_read else described_fields(resolved.signatures)
        return Callee(model.name, resolved, model, None, takes)
    if isinstance(definition, DefinedFunction):
        function = definition.function
        name = f"{function.module.name}.{function.qualname}"
        return Callee(name, resolved, None, function, function_fields(function, project))
    return callee_of(definition.name, (module.file,), project) if isinstance(definition, External) else None


def object_types(value: Value, module: ModuleFacts, project: Project) -> Type:
    """The type of an object of a class, or of one of the classes in a tuple; Anything if one is not known."""
    if value.op is Op.TUPLE:
        return Either(tuple(object_types(part, module, project) for part in value.args))
    definition = project.names.definition(module, value) if value.op in (Op.GLOBAL, Op.ATTR) else None
    if isinstance(definition, External | DefinedClass):
        model = project.classes.of(definition)
        name = model.name if model is not None else definition.name if isinstance(definition, External) else ""
        kind = object_type(name, model)
        return replace(kind, is_class=True) if isinstance(kind, Object) else kind
    return ANYTHING


class Collector:
    """Collects what a function adds to a parser."""

    def __init__(self, parser: Parser, project: Project) -> None:
        self.parser = parser
        self._project = project

    def collect(self, function: Function, is_parser: Iterable[Value]) -> None:
        """Add what the calls in a function add to the parser, which some of its values are."""
        parsers = {id(value) for value in is_parser}
        groups: set[int] = set()
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            receiver = call.callee.args[0] if call.callee.op is Op.ATTR else None
            is_own = receiver is not None and (self._is_in(receiver, parsers) or self._is_in(receiver, groups))
            if is_own:
                method = str(call.callee.data)
                if method in _GROUPS:
                    groups.add(id(call))
                else:
                    self._add(method, event, function.module)
            elif any(self._is_in(argument, parsers) for argument in (*call.positional, *call.keywords.values())):
                self._note_passing(call, function)

    @staticmethod
    def _is_in(value: Value, known: set[int]) -> bool:
        while value.op is Op.UPDATE and id(value) not in known:
            value = value.args[0]
        return id(value) in known

    def _note_passing(self, call: Value, function: Function) -> None:
        """Note that a call gets the parser: only the inherited method of the same name adds nothing unknown."""
        callee = call.callee
        is_super = callee.op is Op.ATTR and callee.args[0].op is Op.CALL and callee.args[0].callee.data == "super"
        if not is_super or callee.data != function.name:
            self.parser.is_open = True

    def _add(self, method: str, event: Event, module: ModuleFacts) -> None:
        call, is_certain = event.value, event.guard is None and not event.loops
        match method:
            case "add_argument":
                self._add_argument(call, module, is_certain=is_certain)
            case "add_lightning_class_args" | "add_class_arguments" | "add_dataclass_arguments":
                self._add_class(call, module, is_certain=is_certain)
            case "add_subclass_arguments":
                self._add_subclass(call, module, is_certain=is_certain)
            case "add_function_arguments" | "add_method_arguments":
                self._add_function(method, call, module, is_certain=is_certain)
            case "add_optimizer_args":
                self._add_optimizer(call, module, "optimizer", "optimizer_class", "params")
            case "add_lr_scheduler_args":
                self._add_optimizer(call, module, "lr_scheduler", "lr_scheduler_class", "optimizer")
            case "link_arguments":
                self._link(call, module)
            case "set_defaults":
                self._set_defaults(call)
            case _ if method not in _HARMLESS:
                self.parser.is_open = True

    def _add_argument(self, call: Value, module: ModuleFacts, *, is_certain: bool) -> None:
        names = [one.data for one in call.positional if one.op is Op.CONST and isinstance(one.data, str)]
        if not names or len(names) != len(call.positional) or call.has_unpacking:
            self.parser.is_open = True
            return
        name = next((one for one in names if one.startswith("--")), names[0])
        given = call.keywords
        dest = given["dest"].data if "dest" in given and isinstance(given["dest"].data, str) else name.lstrip("-")
        action = given.get("action")
        is_required = name[0] != "-" or ("required" in given and given["required"].data is True)
        kind: Type = ANYTHING
        if action is not None and (action.data in _CONFIG_ACTIONS or action.data in ("config", "parser")):
            self.parser.options.update(names)
            is_required = False
        elif action is not None:
            kind = Plain("bool") if action.data in _FLAGS else ANYTHING
        elif "type" in given and "choices" not in given:
            kind = read_type(given["type"], module, self._project)
            kind = Several("list", kind) if "nargs" in given and given["nargs"].data in _SEVERAL else kind
            kind = ANYTHING if "nargs" in given and not isinstance(kind, Several) else kind
        if "default" in given:
            is_required = False
        default = given.get("default")
        if default is not None and default.op is Op.CONST:  # which is taken, whatever its type
            kind = Either((kind, Plain("None") if default.data is None else OneOf((default.data,))))
        name = dest.replace("-", "_") if "dest" not in given else dest
        self.parser.put(name, Section(kind, is_required=is_required and is_certain))
        if name != dest:
            self.parser.put(dest, Section(kind))

    def _nested_key(self, call: Value, position: int = 1) -> str | None:
        """The key of a group; None if it is not known, the empty text for the top."""
        value = call.argument(position, "nested_key")
        if value is None:
            return ""
        return value.data if value.op is Op.CONST and isinstance(value.data, str) else None

    def _add_class(self, call: Value, module: ModuleFacts, *, is_certain: bool) -> None:
        given = call.keywords
        value = call.argument(0, "class_type")
        value = given.get("theclass", given.get("lightning_class", value)) if value is None else value
        mode = given.get("subclass_mode")
        if mode is not None and mode.data is True:
            self._add_subclass(call, module, is_certain=is_certain)
            return
        key = self._nested_key(call)
        callee = None if value is None else callee_in(value, module, self._project)
        if key is None:
            self.parser.is_open = True
            return
        is_known = mode is None or mode.data is False
        takes = callee.takes if callee is not None and is_known else UNKNOWN
        self._put_group(key, self._without_skipped(call, takes), callee, is_certain=is_certain)

    def _put_group(self, key: str, takes: Takes, callee: Callee | None, *, is_certain: bool = True) -> None:
        if not is_certain or (callee is not None and callee.takes.is_open):
            takes = Takes(_optional(takes), is_open=takes.is_open)
        if key:
            self.parser.put(key, Section(takes=takes, callee=callee, owner=key))
            return
        for name, one in takes.fields.items():
            self.parser.put(name, Section(one.type, is_required=one.is_required))
        self.parser.is_open = self.parser.is_open or takes.is_open

    def _without_skipped(self, call: Value, takes: Takes) -> Takes:
        """The fields without those that a call is told to skip; all of them are optional if that is not known."""
        skip = call.keywords.get("skip")
        if skip is None:
            return takes
        names = [part.data for part in skip.args if part.op is Op.CONST] if skip.op in (Op.SET, Op.LIST) else None
        if names is None:
            return Takes(_optional(takes), is_open=True)
        count = next((one for one in names if isinstance(one, int)), 0)
        return takes.without([one for one in names if isinstance(one, str)], range(count))

    def _add_subclass(self, call: Value, module: ModuleFacts, *, is_certain: bool) -> None:
        key = self._nested_key(call)
        value = call.argument(0, "baseclass")
        value = call.keywords.get("lightning_class", value) if value is None else value
        if not key:
            self.parser.is_open = True
            return
        kind = ANYTHING if value is None else object_types(value, module, self._project)
        required, default = call.keywords.get("required"), call.keywords.get("default")
        is_required = is_certain and default is None and (required is None or required.data is True)
        if not is_required or (default is not None):
            kind = Either((kind, Plain("None")))
        self.parser.put(key, Section(kind, is_required=is_required))
        skip = call.keywords.get("skip")
        if skip is not None:
            names = [part.data for part in skip.args if isinstance(part.data, str)]
            self.parser.given.update(f"{key}.init_args.{name}" for name in names)
            if len(names) < len(skip.args) or skip.op not in (Op.SET, Op.LIST):
                self.parser.sections[key] = Section(ANYTHING)

    def _add_function(self, method: str, call: Value, module: ModuleFacts, *, is_certain: bool) -> None:
        is_method = method == "add_method_arguments"
        value = call.argument(0, "class_type" if is_method else "function")
        callee = None if value is None else callee_in(value, module, self._project)
        key = self._nested_key(call, 2 if is_method else 1)
        takes = callee.takes if callee is not None else UNKNOWN
        if is_method:
            name = call.argument(1, "method_name")
            is_known = (
                callee is not None and callee.model is not None and name is not None and isinstance(name.data, str)
            )
            takes = UNKNOWN
            if is_known and callee is not None and callee.model is not None and name is not None:
                takes = method_fields(callee.model, str(name.data), self._project)
        if key is None:
            self.parser.is_open = True
            return
        self._put_group(key, self._without_skipped(call, takes), callee, is_certain=is_certain)

    def _add_optimizer(self, call: Value, module: ModuleFacts, key: str, keyword: str, skipped: str) -> None:
        """Add the arguments of an optimizer or a scheduler: of one class, or of one of several by class path."""
        value = call.argument(0, keyword)
        named = call.argument(1, "nested_key")
        name = key if named is None else named.data if isinstance(named.data, str) else None
        link = call.argument(2, "link_to")
        if name is None:
            self.parser.is_open = True
            return
        if link is not None and isinstance(link.data, str) and link.data != "AUTOMATIC":
            self.parser.given.add(link.data)
        if value is not None and value.op is not Op.TUPLE:
            callee = callee_in(value, module, self._project)
            takes = UNKNOWN if callee is None else callee.takes.without((skipped,))
            self._put_group(name, takes, callee)
            return
        kind = ANYTHING if value is None else object_types(value, module, self._project)
        self.put_automatic(name, kind, skipped)

    def put_automatic(self, key: str, kind: Type, skipped: str) -> None:
        """Add an optimizer or a scheduler by class path; its constructor gets one more argument."""
        self.parser.put(key, Section(Either((kind, Plain("None")))))
        self.parser.given.add(f"{key}.init_args.{skipped}")

    def _link(self, call: Value, module: ModuleFacts) -> None:
        source, target = call.argument(0, "source"), call.argument(1, "target")
        if source is None or target is None or not isinstance(target.data, str) or target.op is not Op.CONST:
            self.parser.is_open = True
            for section in self.parser.sections.values():
                section.is_required = False
            return
        parts = source.args if source.op in (Op.TUPLE, Op.LIST) else (source,)
        texts = [(part.data, module.place(part)) for part in parts if isinstance(part.data, str)]
        moment = call.keywords.get("apply_on", call.argument(3, "apply_on"))
        on_instantiate = moment is not None and moment.data == "instantiate"
        link = Link(tuple(texts), target.data, module.place(target), on_instantiate)
        self.parser.links.append(link)
        self.parser.given.add(target.data)

    def _set_defaults(self, call: Value) -> None:
        for value in call.positional:
            if value.op is Op.DICT:
                names = (key.data for key in value.data if key is not None and isinstance(key.data, str))
                self.parser.given.update(names)
            else:
                self._loosen()
        self.parser.given.update(call.keywords)

    def _loosen(self) -> None:
        """Let no section require anything, since something unknown gives values."""
        for name, section in self.parser.sections.items():
            takes = None if section.takes is None else Takes(_optional(section.takes), section.takes.is_open)
            self.parser.sections[name] = Section(section.type, takes, section.callee, owner=section.owner)


def _optional(takes: Takes) -> dict[str, Field]:
    """The fields of a group that need not be given."""
    found = {}
    for name, one in takes.fields.items():
        found[name] = Field(one.name, one.type, False, one.default, one.is_typed, one.is_positional)
    return found
