"""The programs of a project that parse configurations with jsonargparse: LightningCLI, `CLI`, and their own parsers.

Source: lightning 2.6, `pytorch/cli.py`; jsonargparse 4.53, `_cli.py`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.classes import Callee, callee_of
from modellint.dialects.lightning_cli.parameters import UNKNOWN, Takes, method_fields
from modellint.dialects.lightning_cli.parsers import Collector, Parser, Section, callee_in, object_types
from modellint.dialects.lightning_cli.types import ANYTHING, NONE, Either, Object, Plain, Type
from modellint.graph.immutable import dataclass, replace
from modellint.graph.python import sides
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedClass, DefinedConstant, External
from modellint.link.recipes.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The packages that have LightningCLI, and the modules of it in their releases.
_LIGHTNING = ("lightning.pytorch", "pytorch_lightning")
_CLI_MODULES = ("cli", "utilities.cli")
_NAMES = {f"{package}.{module}.LightningCLI": package for package in _LIGHTNING for module in _CLI_MODULES}
#: The last names of annotations of dictionaries.
_MAPPINGS = frozenset(("dict", "Dict", "Mapping", "MutableMapping"))
_AUTO = frozenset(("jsonargparse.CLI", "jsonargparse.auto_cli"))
_PARSERS = frozenset(("jsonargparse.ArgumentParser", "jsonargparse.core.ArgumentParser"))
#: The parameters of LightningCLI that every release has first.
_FIRST = ("model_class", "datamodule_class")
#: The subcommands of LightningCLI, with the parameters of the trainer's methods that configure nothing.
SUBCOMMANDS = {
    "fit": ("model", "train_dataloaders", "train_dataloader", "val_dataloaders", "datamodule"),
    "validate": ("model", "dataloaders", "val_dataloaders", "datamodule"),
    "test": ("model", "dataloaders", "test_dataloaders", "datamodule"),
    "predict": ("model", "dataloaders", "datamodule"),
}
#: The parameters that are left in some release.
_OF_METHODS = ("ckpt_path", "verbose", "return_predictions", "weights_only", "trainer")
#: Methods of LightningCLI that add the arguments of its own.
_ADDING = (
    "add_default_arguments_to_parser",
    "add_core_arguments_to_parser",
    "_add_arguments",
    "setup_parser",
    "init_parser",
)
_MORE = "add_arguments_to_parser"


@dataclass(frozen=True, eq=False)
class Program:
    """A call that parses a configuration, in the file `script`.

    `parser` has the keys, those of each subcommand if there are `subcommands`; `top` are keys that stand beside the
    subcommands. Not `is_sure`: the code is not understood well enough to tell a key that it lacks from one that it has.
    """

    script: Path
    parser: Parser
    subcommands: Mapping[str, Parser] = field(default_factory=dict)
    top: Parser = field(default_factory=Parser)
    is_sure: bool = True
    #: The package whose LightningCLI it is.
    home: str = ""
    is_lightning: bool = False
    #: A configuration may stand for the parser without a subcommand, too.
    is_either: bool = False
    #: The code hands it a mapping of its own making, so it loads no file.
    is_handed: bool = False

    @property
    def options(self) -> frozenset[str]:
        """The options that name a configuration on the command line."""
        return frozenset((*self.parser.options, "--config", "-c"))


def programs_in(module: ModuleFacts, project: Project) -> tuple[Program, ...]:
    """The programs in a file; nothing is looked for in one that mentions neither library."""
    if "CLI" not in module.text and "jsonargparse" not in module.text:
        return ()
    return project.once(("cli programs in", module.file), lambda: tuple(_programs_in(module, project)))


def programs(project: Project) -> tuple[Program, ...]:
    """The programs of a project; none if it has too many files."""

    def find() -> tuple[Program, ...]:
        root = project.options.root
        paths = {
            path: None for word in ("LightningCLI", "jsonargparse") for path in project.files.mentioning(root, word)
        }
        paths |= dict.fromkeys(_makers(project))
        modules = filter(None, map(project.python, sorted(paths)))
        return tuple(program for module in modules for program in programs_in(module, project))

    return project.once(("cli programs",), find)


def _makers(project: Project) -> Iterator[Path]:
    """The files that mention a class of the project which derives from LightningCLI."""
    root = project.options.root
    for path in project.files.mentioning(root, "base LightningCLI"):
        module = project.python(path)
        for name in module.classes if module is not None else ():
            if "CLI" in name or "Cli" in name:
                yield from project.files.mentioning(root, name)


def _programs_in(module: ModuleFacts, project: Project) -> Iterator[Program]:
    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            if call.callee.op not in (Op.GLOBAL, Op.ATTR):
                continue
            definition = project.names.definition(module, call.callee)
            name = definition.name if isinstance(definition, External) else ""
            if isinstance(definition, DefinedClass):
                name = project.classes.model(definition.cls).name
            if name in _AUTO or name.endswith(("jsonargparse._cli.CLI", "jsonargparse._cli.auto_cli")):
                yield from _auto(call, module, project)
            elif name in _PARSERS or name == "jsonargparse._core.ArgumentParser":
                yield _parser(call, function, project)
            elif isinstance(definition, External | DefinedClass):
                home = _home_of(definition, project)
                if home is not None:
                    yield _lightning(call, definition, home, function, project)


def _home_of(definition: External | DefinedClass, project: Project) -> str | None:
    """The package whose LightningCLI a class is, or derives from; None if it is another class."""
    names = [definition.name] if isinstance(definition, External) else []
    if isinstance(definition, DefinedClass):
        for model in project.classes.model(definition.cls).mro():
            names.append(model.name)
            names += (base.name for base in model.facts.bases if isinstance(base, External))
    return next((_NAMES[name] for name in names if name in _NAMES), None)


# -- LightningCLI --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class _Argument:
    """An argument of LightningCLI, and the file that it is written in."""

    value: Value
    module: ModuleFacts


def _lightning(
    call: Value, definition: External | DefinedClass, home: str, function: Function, project: Project
) -> Program:
    """The program of a call of LightningCLI, or of a class that derives from it."""
    module = function.module
    classes = _own_classes(definition, project)
    given = _arguments_of(call, module, classes)
    parser, is_sure = Parser(), given is not None and not call.has_unpacking
    given = given or {}
    if not is_sure:
        parser.is_open = True
    parser.put("seed_everything", Section(Either((Plain("bool"), Plain("int"), NONE))))
    trainer = _trainer(given, home, module, project)
    parser.put(
        "trainer", Section(takes=trainer.takes if trainer is not None else UNKNOWN, callee=trainer, owner="trainer")
    )
    defaults = given.get("trainer_defaults")
    if defaults is not None and defaults.value.op is Op.DICT:
        parser.given.update(f"trainer.{key.data}" for key in defaults.value.data if key is not None)
    _put_core(parser, "model", given, ("model_class", "subclass_mode_model"), f"{home}.LightningModule", project)
    _put_core(parser, "data", given, ("datamodule_class", "subclass_mode_data"), f"{home}.LightningDataModule", project)
    for cls in classes:
        _add_own(cls, parser, project)
    automatic = given.get("auto_configure_optimizers")
    if automatic is None or automatic.value.data is not False:
        _put_automatic(parser, home, classes, project)
    kwargs = given.get("parser_kwargs")
    parser.files += _default_files(kwargs.value) if kwargs is not None else ()
    parser_class = given.get("parser_class")
    parser.is_open = parser.is_open or parser_class is not None
    run = given.get("run")
    is_run = run is None or (run.value.op is Op.CONST and run.value.data is not False)
    names = _subcommands(classes, parser)
    methods = {name: _with_method(parser, name, trainer, project) for name in names} if is_run else {}
    found = Program(module.file, parser, methods, is_sure=is_sure, home=home, is_lightning=True)
    return replace(
        found, is_either=run is not None and is_run, is_handed=_is_mapping(call.keywords.get("args"), function)
    )


def _is_mapping(value: Value | None, function: Function) -> bool:
    """True if an argument is a dictionary, or a parameter that is annotated as one."""
    if value is None or value.op is not Op.PARAM:
        return value is not None and value.op is Op.DICT
    found = next((one.annotation for one in function.parameters if one.name == value.data), None)
    named = () if found is None else (side.args[0] if side.op is Op.INDEX else side for side in sides(found))
    return any(str(one.data) in _MAPPINGS for one in named)


def _own_classes(definition: External | DefinedClass, project: Project) -> list[Class]:
    """The classes of the project above LightningCLI, the one that is called first."""
    if not isinstance(definition, DefinedClass):
        return []
    found: list[Class] = []
    for one in project.classes.model(definition.cls).mro():
        if one.name in _NAMES:
            break  # the rest is its own
        found += (one.cls,) if one.cls is not None else ()
    return found


def _arguments_of(call: Value, module: ModuleFacts, classes: list[Class]) -> dict[str, _Argument] | None:
    """The arguments that LightningCLI gets, through the constructors of the classes that derive from it.

    None if they are not known.
    """
    given = _arguments_by_name(call, module)
    for cls in classes:
        method = cls.methods.get("__init__")
        if method is None:
            continue
        passed = _call_of_super(method)
        if passed is None:
            return None
        names = {one.name: one for one in method.open_parameters}
        rest = {name: one for name, one in given.items() if name not in names}
        bound = dict(zip((one for one in method.argument_names), call.positional, strict=False))
        own = {**{name: _Argument(value, module) for name, value in bound.items()}, **given}
        through: dict[str, _Argument] = {}
        for name, one in _arguments_by_name(passed, cls.module).items():
            source = one.value
            if source.op is Op.PARAM:
                parameter = names.get(str(source.data))
                known = own.get(str(source.data))
                if known is not None:
                    through[name] = known
                elif parameter is not None and parameter.default is not None:
                    through[name] = _Argument(parameter.default, cls.module)
                continue
            through[name] = one
        is_passing = (
            any(part.op is Op.PARAM for part in passed.args if part.data in ("kwargs", "args")) or None in passed.data
        )
        given = {**(rest if is_passing else {}), **through}
        if any(one.op is Op.STARRED for one in passed.positional) and not method.argument_names:
            given = {**_arguments_by_name(call, module), **through}
    return given


def _arguments_by_name(call: Value, module: ModuleFacts) -> dict[str, _Argument]:
    """The arguments of a call of LightningCLI by name."""
    positional = [one for one in call.positional if one.op is not Op.STARRED]
    found = dict(zip(_FIRST, positional, strict=False)) | call.keywords
    return {name: _Argument(value, module) for name, value in found.items()}


def _call_of_super(method: Function) -> Value | None:
    """The call of the parent's constructor; None without one, or with several."""
    calls = [
        event.value
        for event in method.flow.of(EventKind.CALL)
        if event.value.callee.op is Op.ATTR
        and event.value.callee.data == "__init__"
        and event.value.callee.args[0].op is Op.CALL
    ]
    return calls[0] if len(calls) == 1 else None


def _trainer(given: Mapping[str, _Argument], home: str, module: ModuleFacts, project: Project) -> Callee | None:
    """The class of the trainer; None for one that is not known."""
    named = given.get("trainer_class")
    if named is not None:
        return callee_in(named.value, named.module, project)
    found = callee_of(f"{home}.Trainer", (module.file,), project)
    return found if found.resolved.kind is TargetKind.CLASS or found.model is not None else None


def _put_core(
    parser: Parser, key: str, given: Mapping[str, _Argument], names: tuple[str, str], base: str, project: Project
) -> None:
    """Add the arguments of the model or the data."""
    named, mode = given.get(names[0]), given.get(names[1])
    value = None if named is None or (named.value.op is Op.CONST and named.value.data is None) else named
    if value is None:
        model = _model_of(base, next(iter(given.values()), None), project)
        kind: Type = Object(base, model, is_class=True)
        is_required = key == "model"
        parser.put(key, Section(kind if is_required else Either((kind, NONE)), is_required=is_required))
        return
    if mode is not None and mode.value.data is not False:
        is_known = mode.value.op is Op.CONST
        kind = object_types(value.value, value.module, project) if is_known else ANYTHING
        parser.put(key, Section(kind, is_required=is_known))
        return
    callee = callee_in(value.value, value.module, project)
    takes = UNKNOWN if callee is None else callee.takes
    parser.put(key, Section(takes=takes, callee=callee, owner=key))


def _model_of(name: str, near: _Argument | None, project: Project) -> ClassModel | None:
    where = near.module.file if near is not None else project.options.root / "x.py"
    return project.classes.of(project.names.absolute(name, where))


def _put_automatic(parser: Parser, home: str, classes: list[Class], project: Project) -> None:
    """Add the optimizer and the scheduler that LightningCLI configures unless the program adds one."""
    texts = [cls.methods[_MORE].text for cls in classes if _MORE in cls.methods]
    near = (classes[0].module.file if classes else project.options.root / "x.py",)
    if not any("add_optimizer_args" in text for text in texts):
        kind = _type_of("torch.optim.Optimizer", near, project)
        parser_put(parser, "optimizer", kind, "params")
    if not any("add_lr_scheduler_args" in text for text in texts):
        schedulers = ("torch.optim.lr_scheduler.LRScheduler", f"{home}.cli.ReduceLROnPlateau")
        kinds = tuple(_type_of(name, near, project) for name in schedulers)
        parser_put(parser, "lr_scheduler", Either(kinds), "optimizer")


def parser_put(parser: Parser, key: str, kind: Type, skipped: str) -> None:
    """Add an optimizer or a scheduler by class path, which may be left out."""
    parser.put(key, Section(Either((kind, NONE))))
    parser.given.add(f"{key}.init_args.{skipped}")


def _type_of(name: str, near: tuple[Path, ...], project: Project) -> Type:
    model = project.classes.of(project.names.absolute(name, near[0]))
    return Object(name if model is None else model.name, model, is_class=True)


def _add_own(cls: Class, parser: Parser, project: Project) -> None:
    """Add what the methods of a class that derives from LightningCLI add to the parser."""
    if any(name in cls.methods for name in _ADDING) or "link_optimizers_and_lr_schedulers" in cls.methods:
        parser.is_open = True
    for name in ("add_default_arguments_to_parser", _MORE):
        method = cls.methods.get(name)
        if method is None or len(method.open_parameters) != 1:
            continue
        wanted = method.open_parameters[0].name
        values = {
            id(part): part
            for event in method.flow.events
            for value in (event.value, event.target)
            if value is not None
            for part in value.walk()
            if part.op is Op.PARAM and part.data == wanted
        }
        Collector(parser, project).collect(method, values.values())


def _default_files(kwargs: Value) -> Iterator[str]:
    """The configurations that `parser_kwargs` load by default, of the parser or of a subcommand."""
    for value in kwargs.walk():
        if value.op is Op.DICT:
            for key, part in zip(value.data, value.args, strict=True):
                if key is not None and key.data == "default_config_files":
                    yield from (one.data for one in part.walk() if one.op is Op.CONST and isinstance(one.data, str))


def _subcommands(classes: list[Class], parser: Parser) -> list[str]:
    """The names of the subcommands; those that a class of the project adds are the texts in its method."""
    names = list(SUBCOMMANDS)
    for cls in classes:
        method = cls.methods.get("subcommands")
        if method is not None:
            parser.is_open = True
            values = (value for event in method.flow.events for value in event.value.walk())
            names += (value.data for value in values if value.op is Op.CONST and isinstance(value.data, str))
            keys = (
                key
                for event in method.flow.events
                for value in event.value.walk()
                if value.op is Op.DICT
                for key in value.data
            )
            names += (key.data for key in keys if key is not None and isinstance(key.data, str))
    return list(dict.fromkeys(names))


def _with_method(parser: Parser, name: str, trainer: Callee | None, project: Project) -> Parser:
    """The parser of a subcommand, with the parameters of the trainer's method."""
    sections = dict(parser.sections)
    skipped = SUBCOMMANDS.get(name, ())
    model = None if trainer is None else trainer.model
    takes = UNKNOWN if model is None or name not in SUBCOMMANDS else method_fields(model, name, project)
    if takes.is_open:
        for key in _OF_METHODS:
            sections.setdefault(key, Section())
    for key, one in takes.without(skipped).fields.items():
        sections.setdefault(key, Section(one.type))
    return Parser(sections, parser.links, parser.is_open, parser.given, parser.files, parser.options)


# -- `CLI` and parsers ---------------------------------------------------------------------------------------------


def _auto(call: Value, module: ModuleFacts, project: Project) -> Iterator[Program]:
    """The program of `CLI(components)`: the parameters of a function or class are its keys.

    Several components, and those in a dictionary, each have a subcommand.
    """
    value = _constant_of(call.argument(0, "components"), module, project)
    if value is None:
        return  # all that the file defines
    if value.op is Op.DICT:
        parsers = dict(_of_components(value, module, project))
        yield Program(module.file, Parser(options={"--config"}), parsers)
        return
    callees = [callee_in(part, module, project) for part in _parts_of(value)]
    if any(one is None for one in callees):
        return
    parsers = {one.name.rpartition(".")[2]: _group_parser(one.takes) for one in callees if one is not None}
    if len(parsers) > 1:
        yield Program(module.file, Parser(options={"--config"}), parsers)
    else:
        for callee, parser in zip(callees, parsers.values(), strict=True):
            methods = {} if callee is None else _of_methods(callee, project)
            yield Program(module.file, parser, methods, parser if methods else Parser())


def _constant_of(value: Value | None, module: ModuleFacts, project: Project) -> Value | None:
    """The value that a name at the top of a file stands for; other values are themselves."""
    found = project.names.definition(module, value) if value is not None and value.op is Op.GLOBAL else None
    return found.value if isinstance(found, DefinedConstant) and found.module is module else value


def _parts_of(value: Value) -> tuple[Value, ...]:
    return value.args if value.op in (Op.LIST, Op.TUPLE) else (value,)


def _of_components(value: Value, module: ModuleFacts, project: Project) -> Iterator[tuple[str, Parser]]:
    """The parsers of a dictionary of components by their subcommands; one in another dictionary is not known."""
    for key, part in zip(value.data, value.args, strict=True):
        if key is not None and isinstance(key.data, str) and key.data != "_help":
            callee = callee_in(part, module, project)
            yield key.data, Parser(is_open=True) if callee is None else _group_parser(callee.takes)


def _of_methods(callee: Callee, project: Project) -> dict[str, Parser]:
    """The parsers of the public methods of a class, which are its subcommands."""
    found: dict[str, Parser] = {}
    for model in callee.model.mro() if callee.model is not None else ():
        for name in model.cls.methods if model.cls is not None else ():
            if not name.startswith("_") and callee.model is not None:
                found.setdefault(name, _group_parser(method_fields(callee.model, name, project)))
    return found


def _group_parser(takes: Takes) -> Parser:
    """The parser of a function or class whose parameters stand at the top; required ones may be positional."""
    parser = Parser(is_open=takes.is_open, options={"--config"})
    for name, one in takes.fields.items():
        parser.put(name, Section(one.type))
    parser.put("config", Section())
    return parser


def _parser(call: Value, function: Function, project: Project) -> Program:
    """The program of a function that makes a parser and adds arguments to it."""
    parser = Parser()
    Collector(parser, project).collect(function, (call,))
    files = call.keywords.get("default_config_files")
    if files is not None:
        parser.files += (one.data for one in files.walk() if one.op is Op.CONST and isinstance(one.data, str))
    for event in function.flow.of(EventKind.RETURN):
        if any(part is call for part in event.value.walk()):
            parser.is_open = True  # a caller may add more
    return Program(function.module.file, parser)
