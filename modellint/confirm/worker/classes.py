"""Build an object of a class that a Python file defines, with arguments from every source that tells them."""

from __future__ import annotations

import ast
import collections.abc
import contextlib
import dataclasses
import inspect
import types
import typing
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import examples, roles
from .passing import AnyLayer, Passing, layers_in_a
from .places import definitions
from .scaling import noted_configurations
from .settings import Settings, keys_of, settings_read_by
from .signatures import VARIADIC, annotation_of, init_of, is_tensor_type, parameters_of, takes_any_attributes
from .sources import CannotBuildError, Source
from .standins import StandIn, is_derived
from .surroundings import Helper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .scaling import Scale

_MAX_DEPTH = 4
_SHOWN_NAMES = 6
_MISSING = inspect.Parameter.empty
#: Marks a parameter that is to be a number by its role, though it need not be passed.
_NUMBER = object()
#: Annotations whose parameters are given a list.
_SEQUENCES = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
#: Endings of the names of configuration classes.
_CONFIGURATIONS = ("Config", "Args", "Settings", "HParams", "Hparams")


class Builder:
    """Builds objects; values that had to be assumed are in `assumed`, by parameter.

    `fixed` are values of the target's own parameters for this attempt; `alternatives` are values for other attempts.
    """

    def __init__(
        self,
        source: Source,
        configured: Mapping[str, Any],
        *,
        variant: int = 0,
        fixed: Mapping[str, Any] | None = None,
        device: str = "cpu",
    ) -> None:
        self.source = source
        self.numbers = roles.Numbers(variant)
        self.alternatives: dict[str, list[Any]] = {}
        self.device = device
        #: The arguments of each object that was built, by its identity.
        self.arguments: dict[int, dict[str, Any]] = {}
        self._configured = configured
        self._fixed = dict(fixed or {})
        self._others: dict[str, str] = {}
        self._inputs: dict[str, str] = {}
        #: Numbers of configurations that make a model large, each with a small one; and those to use.
        self.sizes: dict[str, int] = {}
        self.reduced: dict[str, int] = {}
        #: Defaults of built objects by parameter, and the scale by which to reduce them, if any.
        self.defaults: list[tuple[str, Any]] = []
        self.scale: Scale | None = None
        #: The numbers that the code itself passes to configurations.
        self.passed: list[tuple[str, Any]] = []
        #: The parameters of the target that must be passed, and those that may be None.
        self.needed: list[str] = []
        self.optional: set[str] = set()
        #: True if parameters with a default are left at it, as long as the target can be built so.
        self.keeps_defaults = False
        #: Devices passed as arguments, or as defaults: they are reported, though no fact rests on which one it is.
        self._devices: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        #: True if a class is built even if a base of it could not be imported.
        self.allows_bases = False
        #: The known kinds of the target's parameters: a `tensor`, or a `list`, `tuple` or `dict` of layers.
        self.kinds: Mapping[str, str] = {}
        #: Gives what stands for an unknown layer, by its name; None for a layer that gives its input.
        self.unknown: Callable[[str], Any] | None = None

    @property
    def assumed(self) -> list[str]:
        """The assumptions as `name = value`; names with the same value are joined."""
        numbers = {name: str(value) for name, value in self.numbers.assumed.items()}
        tried = {name: repr(value) for name, value in self._fixed.items() if value is not _NUMBER}
        tried |= {name: str(value) for name, value in self.reduced.items()}
        groups: dict[str, list[str]] = {}
        for name, text in {**numbers, **tried, **self._others, **self._devices, **self._inputs}.items():
            groups.setdefault(text, []).append(name)
        return [f"{_listing(names)} = {text}" for text, names in groups.items()]

    @property
    def is_assuming(self) -> bool:
        """True if any value but a device had to be assumed."""
        return bool(self.is_guessed or self.numbers.assumed or self._inputs)

    @property
    def is_guessed(self) -> bool:
        """True if a value other than a number or an input had to be assumed."""
        return bool(self._others or self._fixed or self.reduced)

    def note_inputs(self, inputs: Mapping[str, str]) -> None:
        """Note the inputs with which a fact was observed."""
        self._inputs.update(inputs)

    def again(self, fixed: Mapping[str, Any]) -> Builder:
        """A builder of the same object, with other values for some of the target's parameters."""
        return Builder(
            self.source,
            self._configured,
            variant=self.numbers.variant,
            fixed={**self._fixed, **fixed},
            device=self.device,
        )

    def target(self, cls: type) -> Any:
        """An object of the class that the request is about."""
        return self._build(cls, dict(self._configured.get("arguments", {})), self._fixed, 0)

    def instance(self, cls: type, depth: int = 0) -> Any:
        """An object of a class that an argument needs."""
        return self._build(cls, {}, {}, depth)

    def arguments_of(self, function: Callable[..., Any]) -> dict[str, Any]:
        """The arguments for a function that builds something, as for a constructor."""
        parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in VARIADIC]
        found = {p.name: self._argument(p, function, None, {}, 0, is_target=False) for p in parameters}
        return {name: value for name, value in found.items() if value is not _MISSING}

    def _build(self, cls: type, configured: dict[str, Any], fixed: Mapping[str, Any], depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise CannotBuildError(f"`{cls.__name__}` needs objects that need objects, more than {_MAX_DEPTH} deep")
        if issubclass(cls, StandIn) and not (self.allows_bases and is_derived(cls)):
            lacking = next(base for base in cls.__mro__ if issubclass(base, StandIn) and not is_derived(base))
            raise CannotBuildError(f"`{lacking.__qualname__}` could not be imported")
        if inspect.isabstract(cls) or init_of(cls) is object.__init__:
            cls = self._concrete(cls)
        init = init_of(cls)
        shown = self._example_arguments(cls) if depth == 0 and not fixed else {}
        given = {**self._called_with(cls), **shown, **configured, **fixed}
        arguments = {}
        tree = self._constructor_or_inherited(cls)
        for parameter in parameters_of(init):
            found = self._argument(parameter, init, tree, given, depth, is_target=depth == 0)
            if found is not _MISSING:
                arguments[parameter.name] = found
        arguments |= {**self._by_keys(init, tree), **arguments}
        try:
            with self._noting_configurations() if depth == 0 else contextlib.nullcontext():
                made = self._construct(cls, arguments) if depth == 0 and self.kinds else cls(**arguments)
        except KeyError as error:
            if depth == 0:
                self._note_keys(arguments, error)
            raise
        if _is_settings(made):
            made = self._with_parts(made, init, arguments, depth)
        self.arguments[id(made)] = arguments
        return made

    def _construct(self, cls: type, arguments: dict[str, Any]) -> Any:
        """Construct an object; its `*args` or `**kwargs` are layers where `kinds` says so."""
        parameters = list(inspect.signature(cls).parameters.values())
        rest = {one.kind: one for one in parameters if one.kind in VARIADIC and one.name in self.kinds}
        first: list[Any] = []
        if inspect.Parameter.VAR_POSITIONAL in rest:
            before = parameters[: parameters.index(rest[inspect.Parameter.VAR_POSITIONAL])]
            first = [arguments.get(one.name, one.default) for one in before]
            arguments = {name: value for name, value in arguments.items() if name not in {one.name for one in before}}
            first += layers_in_a("list")
        if inspect.Parameter.VAR_KEYWORD in rest:
            arguments = {**arguments, **layers_in_a("dict")}
        return cls(*first, **arguments)

    def _example_arguments(self, cls: type) -> dict[str, Any]:
        """The constructor's arguments in the first documented example that also calls the object; empty without one."""
        for example in examples.examples_of(self.source, cls):
            if example.called_with is not None:
                try:
                    return dict(inspect.signature(cls).bind(*example.made_with[0], **example.made_with[1]).arguments)
                except (TypeError, ValueError):
                    continue
        return {}

    def _by_keys(self, init: Callable[..., Any], tree: ast.FunctionDef | None) -> dict[str, Any]:
        """The values of the keys that a constructor reads out of its `**kwargs`."""
        kinds = {parameter.kind: parameter.name for parameter in inspect.signature(init).parameters.values()}
        name = kinds.get(inspect.Parameter.VAR_KEYWORD)
        if tree is None or name is None:
            return {}
        settings = self._settings(name)
        return {key: settings[key] for key in keys_of(tree, name)}

    def _as_settings(
        self, parameter: inspect.Parameter, annotation: Any, use: roles.ParameterUse, said: dict[str, Any], depth: int
    ) -> Any:
        """A table of the settings as what a parameter takes: a configuration of some class, or one of no class.

        What is no configuration gets the table as it is.
        """
        name = parameter.name
        is_class = (
            isinstance(annotation, type)
            and annotation is not _MISSING
            and annotation.__module__ != "builtins"
            and not issubclass(annotation, collections.abc.Mapping | StandIn)
        )
        if is_class and not takes_any_attributes(annotation):
            cls: type | None = annotation
        elif roles.is_settings(name):
            cls = None if use.is_keyed or is_class else self._settings_class()
        elif is_class or use.has_attributes:
            cls = None
        else:
            return said
        if cls is None:
            return self._settings(name).with_values(said)
        known = [part.name for part in parameters_of(init_of(cls))]
        if unknown := [key for key in said if key not in known]:
            raise CannotBuildError(f"`{cls.__name__}` takes no `{unknown[0]}`; expected some of {', '.join(known)}")
        return self._build(cls, said, {}, depth + 1)

    def _settings(self, name: str) -> Settings:
        """A configuration without a class, whose keys are known from the code alone."""
        return Settings(self.numbers, settings_read_by(self.source.tree, name), self.device, self.note_other)

    def _concrete(self, cls: type) -> type:
        """A subclass with stand-ins for abstract methods, and numbers for attributes that a mixin expects of others."""

        def attribute(_: Any, name: str) -> Any:
            if name.startswith("__") or not roles.counts_ids(name):
                raise AttributeError(f"nothing says what `{name}` is")
            return self.numbers.number(name)

        methods = dict.fromkeys(getattr(cls, "__abstractmethods__", ()), Helper(cls.__name__))
        known = {} if hasattr(cls, "__getattr__") else {"__getattr__": attribute}
        return type(cls.__name__, (cls,), {**methods, **known})

    def _argument(
        self,
        parameter: inspect.Parameter,
        function: Callable[..., Any],
        tree: ast.FunctionDef | None,
        given: Mapping[str, Any],
        depth: int,
        *,
        is_target: bool,
    ) -> Any:
        name = parameter.name
        use = roles.uses(tree, name) if tree is not None else roles.ParameterUse()
        if is_target:
            if parameter.default is _MISSING:
                self.needed.append(name)
            self._note_alternatives(parameter, use, annotation_of(function, parameter))
        if isinstance(said := given.get(name), dict):
            return self._as_settings(parameter, annotation_of(function, parameter), use, said, depth)
        if name in given:
            return said if said is not _NUMBER else self.numbers.number(name)
        if roles.is_device(name) and self.device != "cpu":
            if self.keeps_defaults and parameter.default is not _MISSING:
                self.kept[name] = repr(parameter.default)
                return _MISSING
            if is_target and parameter.default is not _MISSING:
                self.alternatives[name] = [parameter.default]
            self._devices[name] = repr(self.device)
            return self.device
        if parameter.default is not _MISSING:
            small = self._scaled_default(name, parameter.default)
            return small if is_target or small is not _MISSING else self._reduced_default(parameter)
        annotation = annotation_of(function, parameter)
        kind = self.kinds.get(name) if is_target else None
        if kind is not None and kind != "tensor":
            return layers_in_a(kind)
        is_tensor = annotation is torch.Tensor or kind == "tensor"
        if is_tensor or (annotation is _MISSING and use.is_buffer):
            return self._vector(name)
        found = self.by_annotation(annotation, name, depth)
        return self.by_use(name, use, depth) if found is _MISSING else found

    def _reduced_default(self, parameter: inspect.Parameter) -> Any:
        """The small number for a default that makes a model large, if this attempt reduces it."""
        small = roles.shrunk(parameter.name) if type(parameter.default) is int else None
        if small is not None and small < parameter.default:
            self.sizes[parameter.name] = small
        return self.reduced.get(parameter.name, _MISSING)

    def _scaled_default(self, name: str, default: Any) -> Any:
        """The reduced value of a default where a model is made small; empty if it stays."""
        self.defaults.append((name, default))
        small = None if self.scale is None else self.scale.small(name, default)
        if small is None:
            return _MISSING
        self._others[name] = repr(small)
        return small

    def _with_parts(self, made: Any, init: Callable[..., Any], arguments: dict[str, Any], depth: int) -> Any:
        """A configuration with the smaller parts that it makes for itself where no argument is passed."""
        parts = {
            name: type(value)
            for parameter in parameters_of(init)
            if (name := parameter.name) not in arguments and _is_settings(value := getattr(made, name, None))
        }
        for cls in parts.values() if self.scale is None else ():
            self.defaults += [(part.name, part.default) for part in parameters_of(init_of(cls))]
        if self.scale is None or not parts:
            return made
        return type(made)(**arguments, **{name: self._build(cls, {}, {}, depth + 1) for name, cls in parts.items()})

    def note_other(self, name: str, said: str) -> None:
        """Note the value assumed for an argument that no source tells."""
        self._others[name] = said

    def _note_alternatives(self, parameter: inspect.Parameter, use: roles.ParameterUse, annotation: Any) -> None:
        if parameter.default is None:
            self.optional.add(parameter.name)
        kinds = typing.get_args(annotation) or (annotation,)
        is_plain = annotation is _MISSING and roles.is_width(parameter.name)
        if parameter.default is None and torch.Tensor in kinds:
            self.alternatives[parameter.name] = [self._vector(parameter.name)]
        elif parameter.default is None and (int in kinds or is_plain):
            self.alternatives[parameter.name] = [_NUMBER]
        elif isinstance(parameter.default, bool):
            self.alternatives[parameter.name] = [not parameter.default]
        elif use.words:
            self.alternatives[parameter.name] = [word for word in use.words if word != parameter.default]
        elif use.is_tested and parameter.default is _MISSING:
            self.alternatives[parameter.name] = [True, False]

    def _noting_configurations(self) -> contextlib.AbstractContextManager[None]:
        """Note the numbers that the code passes to configurations which it makes itself."""

        def note(name: str, value: Any, small: Any) -> None:
            self.passed.append((name, value))
            if small is not None:
                self._others[name] = repr(small)

        values = vars(self.source.module).values()
        kinds = [value for value in values if isinstance(value, type) and value.__name__.endswith(_CONFIGURATIONS)]
        plain = [kind for kind in dict.fromkeys(kinds) if not issubclass(kind, StandIn | nn.Module | tuple)]
        return noted_configurations(plain, self.scale, note)

    def _note_keys(self, arguments: Mapping[str, Any], error: KeyError) -> None:
        """Let other attempts try the keys of a mapping that has no entry for an argument."""
        keys = _keys_asked(error)
        for name, value in arguments.items() if keys else ():
            if value is error.args[0]:
                self.alternatives[name] = keys

    def by_annotation(self, annotation: Any, name: str, depth: int = 0) -> Any:
        """A value of an annotated type; `inspect.Parameter.empty` if the annotation says too little."""
        origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, getattr(types, "UnionType", typing.Union)):
            kinds = sorted((part for part in parts if part is not type(None)), key=lambda kind: kind is not int)
            return self.by_annotation(kinds[0], name, depth) if kinds else None
        if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping) and len(parts) == 2:
            value = self.by_annotation(parts[1], name, depth)
            return {"a": value} if parts[0] is str and value is not _MISSING else _MISSING
        if origin in _SEQUENCES and parts:
            origin = list
        if origin in (list, tuple) and parts:
            number = len(parts) if origin is tuple and parts[-1] is not Ellipsis else 2
            one = [self.by_annotation(parts[0], name, depth) for _ in range(number)]
            return _MISSING if any(part is _MISSING for part in one) else origin(one)
        if annotation is bool:
            self._others[name] = "False"
            return False
        if annotation is int or annotation is float:
            return annotation(self.numbers.number(name))
        if annotation is torch.device:
            return torch.device(self.device)
        if annotation is _MISSING or annotation is torch.Tensor or not isinstance(annotation, type):
            return _MISSING
        if is_tensor_type(annotation):
            return _MISSING
        if annotation.__module__ == "builtins" or issubclass(annotation, StandIn) or annotation is typing.Any:
            return _MISSING
        if issubclass(annotation, collections.abc.Mapping) or takes_any_attributes(annotation):
            return self._settings(name)
        if annotation is nn.Module:
            return self._identity(name)
        return self.instance(annotation, depth + 1)

    def by_use(self, name: str, use: roles.ParameterUse, depth: int) -> Any:
        """An argument by the parameter's name and its uses in the code alone."""
        if roles.is_settings(name):
            cls = None if use.is_keyed else self._settings_class()
            return self._settings(name) if cls is None else self.instance(cls, depth + 1)
        if roles.is_device(name):
            return torch.device(self.device)
        if use.words:
            self._others[name] = repr(use.words[0])
            return use.words[0]
        if roles.is_path(name):
            self._others[name] = repr(roles.NO_FILE)
            return roles.NO_FILE
        if roles.is_layer(name) and not use.is_iterated:
            return self._identity(name)
        if use.has_attributes or use.is_keyed:
            return self._settings(name)
        if use.is_called and roles.is_layer_class(name):
            self._others[name] = "Identity"
            return AnyLayer
        if use.is_called:
            raise CannotBuildError(f"nothing says what to call as `{name}`")
        if use.is_iterated or roles.is_list(name):
            self._others[name] = "[8, 8, 8]"
            return [8, 8, 8]
        if use.is_tested:
            self._others[name] = "True"
            return True
        return self.numbers.number(name)

    def _identity(self, name: str) -> Any:
        if self.unknown is not None:
            return self.unknown(name)
        self._others[name] = "Identity()"
        return Passing()

    def _vector(self, name: str) -> torch.Tensor:
        """A tensor as wide as most layers, for a parameter of unknown shape, so that it is broadcast."""
        width = int(self.numbers.choose("width"))
        self._others[name] = f"ones({width})"
        return torch.ones(width)

    def _settings_class(self) -> type | None:
        """The one configuration class that the module imports or defines."""
        values = vars(self.source.module).values()
        classes = [value for value in values if isinstance(value, type) and not issubclass(value, StandIn | nn.Module)]
        named = [cls for cls in classes if cls.__name__.endswith(_CONFIGURATIONS)]
        found = named or [cls for cls in classes if dataclasses.is_dataclass(cls)]
        return found[0] if len(set(found)) == 1 else None

    # -- the text of the file -----------------------------------------------------------------------------------------

    def constructor(self, cls: type) -> ast.FunctionDef | None:
        """The syntax of a class's own constructor."""
        own = definitions(self.source.tree, f"{cls.__qualname__}.__init__")
        found = [node for node in own if isinstance(node, ast.FunctionDef)]
        if len(found) > 1:  # in branches, one of which was run
            lines = [line for _, _, line in init_of(cls).__code__.co_lines() if line]
            found = [node for node in found if lines and node.lineno <= max(lines) <= (node.end_lineno or 0)]
        return next(iter(found), None)

    def _constructor_or_inherited(self, cls: type) -> ast.FunctionDef | None:
        """The syntax of the constructor that a class of the file has from itself or from another of the file."""
        mine = [base for base in cls.__mro__ if base.__module__ == self.source.module.__name__]
        return next((tree for base in mine if (tree := self.constructor(base)) is not None), None)

    def _called_with(self, cls: type) -> dict[str, Any]:
        """The literal arguments of the first call of a class in the same file that has any."""
        names = [parameter.name for parameter in parameters_of(init_of(cls))]
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == cls.__name__:
                given = dict(zip(names, node.args, strict=False))
                given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in names}
                known = {str(name): value for name, part in given.items() if (value := _literal(part)) is not None}
                if known:
                    return known
        return {}


def _listing(names: list[str]) -> str:
    """Some names, shortened if there are many."""
    rest = len(names) - _SHOWN_NAMES
    return ", ".join(names) if rest <= 1 else ", ".join(names[:_SHOWN_NAMES]) + f" and {rest} more"


def _keys_asked(error: KeyError) -> list[str]:
    """The keys of the dict whose look-up raised a KeyError, found in the failing frame; none if it is not there."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not error.args:
        return []
    frame = step.tb_frame
    seen = [*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)]
    for mapping in seen:
        if isinstance(mapping, dict) and mapping and all(isinstance(key, str) for key in mapping):
            return list(mapping)
    return []


def _is_settings(made: object) -> bool:
    """True for an object whose class is named like a configuration, unless it is a module."""
    return type(made).__name__.endswith(_CONFIGURATIONS) and not isinstance(made, nn.Module)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
