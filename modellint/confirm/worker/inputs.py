"""Arguments for a call: tensors and numbers from settings, documentation, annotations, defaults and names."""

from __future__ import annotations

import collections.abc
import inspect
import itertools
import re
import typing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import called, examples, roles
from .complaints import Complaint
from .dimensions import dimensions, unpacked_names
from .documented import Documentation
from .named import Named, defaults
from .settings import keys_of
from .several import is_several, tree_of
from .signatures import annotation_of, is_tensor_type
from .specs import BATCH, IMAGE, SAMPLES, STEPS, TIME, Spec, configured_spec, is_small, with_size
from .surroundings import Helper
from .taken import CALLED_CHANNELS, CALLED_SIDES, COLOURS, parts, sides_of, widths

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping

    from .attempts import Attempt

_MAX_COMBINATIONS = 80
_MAX_CANDIDATES = 14
_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
_MAX_WIDTHS = 3
#: So many kinds of one more input are tried.
_MOST_KINDS = 8
_KNOWS_VOCABULARY = ("vocab_size", "vocabulary_size", "n_vocab", "num_embeddings")


class Inputs:
    """The ways to call a function: the first is the likeliest.

    With `is_full`, parameters that may be None get what their names say, too.
    """

    def __init__(self, function: Callable[..., Any], owner: Any, attempt: Attempt, *, is_full: bool = False) -> None:
        self._is_full = is_full
        self._function = function
        self._owner = owner
        self._builder = attempt.builder
        self._configured = attempt.configured.get("inputs", {})
        self._tree = tree_of(function)
        self._widths = list(dict.fromkeys(widths(owner)))
        #: The owner's numbers, by name.
        self.named = Named(owner, self._builder)
        is_equal = self._builder.numbers.variant == roles.EQUAL
        self._documented = Documentation(function, self._tree, self.named, self._widths, is_equal=is_equal)
        self.candidates: dict[str, list[Spec]] = {}
        for parameter in inspect.signature(function).parameters.values():
            found = [] if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) else self._of(parameter)
            if found:
                self.candidates[parameter.name] = found
        self._tried: set[tuple[tuple[str, str], ...]] = set()

    def _offered_inputs(self) -> Iterator[dict[str, Spec]]:
        """Inputs that the object itself offers (`dummy_inputs`), or that an example passes to it."""
        names = set(inspect.signature(self._function).parameters)
        rest = {name: specs[0] for name, specs in self.candidates.items()}
        for given in (*self._example_inputs(), _dummies(self._owner)):
            if given and given.keys() <= names and not given.keys() & self._configured.keys():
                shown = {name: self._like(name, value) for name, value in given.items()}
                if (usual := _as_batch(shown)) is not None:
                    yield {**rest, **usual}
                yield {**rest, **shown}

    def _example_inputs(self) -> Iterator[dict[str, Any]]:
        """The inputs of the first calls in examples of the owner's class."""
        if not isinstance(self._owner, nn.Module) or getattr(self._function, "__name__", "") != "forward":
            return
        for example in examples.examples_of(self._builder.source, type(self._owner)):
            given, named = example.called_with or ((), {})
            try:
                yield dict(inspect.signature(self._function).bind(*given, **named).arguments)
            except TypeError:
                continue

    def _like(self, name: str, value: Any) -> Spec:
        """A specification like a tensor that was seen; ids and masks have the usual sizes."""
        if not isinstance(value, torch.Tensor):
            return Spec("value", value=value)
        if value.is_floating_point() and TIME not in value.shape[1:]:
            # A first dimension as long as sequences are is the batch.
            is_batch = value.dim() > 1 and value.shape[0] == TIME
            shape = (BATCH, *value.shape[1:]) if is_batch else tuple(value.shape)
            return Spec("float", shape, is_documented=True)
        usual = self._by_name(name)[0]
        is_usual = usual.kind in ("ids", "mask", "positions") and value.dim() == len(usual.shape)
        return usual if is_usual else Spec("value", value=value)

    def combinations(self) -> Iterator[dict[str, Spec]]:
        """Arguments by name; after the likeliest come those that examples show, then what `learn` adds on the way."""
        ranked: tuple[object, ...] | None = None
        likeliest: Iterator[dict[str, Spec]] = iter(())
        while len(self._tried) < _MAX_COMBINATIONS:
            # Lists of candidates are changed in place, and each of their specifications is a new one then.
            known = tuple((name, *map(id, specs[:_MAX_CANDIDATES])) for name, specs in self.candidates.items())
            if known != ranked:
                ranked, likeliest = known, self._likeliest()
            for chosen in likeliest:
                key = tuple((name, str(spec)) for name, spec in chosen.items())
                if key not in self._tried:
                    self._tried.add(key)
                    yield chosen
                    if len(self._tried) == 1:
                        yield from self._offered_inputs()
                    break
            else:
                return

    def _likeliest(self) -> Iterator[dict[str, Spec]]:
        """All combinations of the candidates, in the order of the sum of their ranks."""
        names = list(self.candidates)
        ranked = [list(enumerate(specs[:_MAX_CANDIDATES])) for specs in self.candidates.values()]
        products = itertools.islice(itertools.product(*ranked), 20_000)
        for chosen in sorted(products, key=lambda specs: sum(rank for rank, _ in specs)):
            yield {name: spec for name, (_, spec) in zip(names, chosen, strict=True)}

    def optional(self, given: Mapping[str, Spec]) -> dict[str, list[Spec]]:
        """Further inputs: tensor parameters with the default None, each with its candidates.

        `given` are inputs with which it works; what is of the same kind is mostly of the same shape.
        """
        found: dict[str, list[Spec]] = {}
        for parameter in inspect.signature(self._function).parameters.values():
            name = parameter.name
            if parameter.default is not None or name in given or not self._may_be_tensor(parameter):
                continue
            specs = self._documented.of(parameter.name, self._ids) or [
                spec for spec in self._by_name(name) if spec.kind != "value"
            ]
            if specs and not specs[0].is_documented:
                kinds = {spec.kind for spec in specs}
                specs = [replace(spec, is_guess=spec.kind == "float") for spec in specs]
                tensors = [spec for spec in given.values() if spec.kind in ("float", "ids")]
                tensors = [replace(spec, declared=None, is_guess=True) for spec in tensors]
                alike = [spec for spec in tensors if spec.kind in kinds]
                specs = [*alike, *specs[:2], *tensors, *specs[2:]]
            if specs:
                found[name] = list(dict.fromkeys(specs))
        return found

    def _may_be_tensor(self, parameter: inspect.Parameter) -> bool:
        annotation = _annotation_for(self._function, self._tree, parameter)
        if annotation is not parameter.empty:
            kinds = typing.get_args(annotation) or (annotation,)
            return any(isinstance(kind, type | type(torch.LongTensor)) and _is_tensor(kind) for kind in kinds)
        use = roles.ParameterUse() if self._tree is None else roles.uses(self._tree, parameter.name)
        is_other = called.NUMBER.search(parameter.name) or roles.is_settings(parameter.name) or use.is_called
        return not is_other and all(hasattr(torch.Tensor, attribute) for attribute in use.attributes)

    def with_more(self, given: Mapping[str, Spec], name: str, kinds: list[Spec]) -> Iterator[dict[str, Spec]]:
        """The same inputs with one more, of each kind in turn; candidates that `learn` adds meanwhile come next."""
        kept = self.candidates, self._tried
        self.candidates, self._tried = {name: kinds}, set()
        try:
            for chosen in itertools.islice(self.combinations(), _MOST_KINDS):
                yield {**given, **chosen}
        finally:
            self.candidates, self._tried = kept

    @property
    def of_constructor(self) -> frozenset[str]:
        """The names of the constructor's parameters."""
        return frozenset(defaults(self._owner))

    def is_said(self, name: str) -> bool:
        """True if the settings give an input."""
        return name in self._configured

    def learn(self, error: BaseException, tried: Mapping[str, Spec]) -> None:
        """Add candidates with the sizes that a complaint about shapes asks for.

        `tried` are the inputs that the complaint is about.
        """
        if not self.candidates:
            self._pass_something()
        elif (name := self._lacking(error)) is not None:
            self.candidates[name] = self._by_name(name)
            return
        if not tried or not isinstance(error, RuntimeError | ValueError | AssertionError):
            return
        complaint = Complaint(error)
        has_streams = any(spec.kind == "streams" for spec in tried.values())
        for name, specs in self.candidates.items():
            if (spec := tried.get(name)) is None or name in self._configured:
                continue
            if has_streams and complaint.dimensions is not None:
                # Only a list of sequences can be unpacked into so many values.
                specs[:] = [
                    replace(one, number=complaint.dimensions) if one.kind == "streams" else one for one in specs
                ]
                continue
            # A shape that was asked for is likelier than the remaining guesses.
            at = 2 if called.WAVES.search(name.lower()) else 1
            new = dict.fromkeys(self._asked_for(complaint, name, spec, specs))
            specs[at:at] = [spec for spec in new if spec not in specs and is_small(spec)]

    def _asked_for(self, complaint: Complaint, name: str, spec: Spec, specs: list[Spec]) -> list[Spec]:
        """Specifications that a complaint asks for in place of `spec`; `specs` are the input's candidates."""
        plain = next((spec for spec in specs if spec.kind == "float" and not spec.is_documented), None)
        shapes = [shape] if (shape := complaint.shape(spec)) is not None else []
        shapes = shapes or (complaint.alone(spec) if len(self.candidates) == 1 else [])
        if shapes and not spec.is_documented:
            return [replace(spec, shape=shape) for shape in shapes]
        if complaint.is_of_length and spec.kind == "float" and TIME in spec.shape:
            return [replace(spec, shape=tuple(SAMPLES if size == TIME else size for size in spec.shape))]
        if spec.kind == "float" and (channels := complaint.channels(spec)) is not None:
            return [replace(spec, shape=with_size(spec.shape, 1, channels))]
        if spec.kind == "float" and not spec.is_documented and (sides := complaint.image_sides(spec)):
            return [replace(spec, shape=(*spec.shape[:2], side, side)) for side in sides]
        if complaint.is_of_integers and spec.kind == "float" and not spec.is_real:
            return [replace(self._ids(name)[0], shape=spec.shape)]
        dimensions = complaint.dimensions_of(spec)
        if dimensions is not None and (plain is not None or (spec.free and len(spec.shape) != dimensions)):
            images = self._images() if dimensions == len((BATCH, "channels", "height", "width")) else []
            return [*images, *self._documented.of_dimensions(["b", *"_" * (dimensions - 1)])]
        if spec.free:
            return [
                replace(spec, shape=with_size(spec.shape, dim, size)) for size in complaint.numbers for dim in spec.free
            ]
        if plain is None:
            return []
        wide = sorted((width for width in complaint.numbers if width > 1), key=lambda width: width in spec.shape)
        longer = [with_size(spec.shape, len(spec.shape) - 1, width) for width in wide if len(spec.shape) > 2]
        if spec.kind == "float":
            longer = [*complaint.scaled_shapes(spec, is_alone=len(self.candidates) == 1), *longer]
        shapes = [*longer, *(shape for width in wide for shape in ((BATCH, TIME, width), (BATCH, width)))]
        return [replace(plain, shape=shape) for shape in shapes]

    def _pass_something(self) -> None:
        """Pass one of several parameters that may all be None: `main_input_name` if the owner has it, or the first."""
        optional = self._optionals()
        main = getattr(self._owner, "main_input_name", None)
        for name in [main, *optional] if main in optional else optional:
            self.candidates[name] = self._by_name(name)
            return

    def _optionals(self) -> list[str]:
        """The parameters that may be None and are not passed."""
        found = inspect.signature(self._function).parameters.values()
        return [part.name for part in found if part.default is None and part.name not in self.candidates]

    def _lacking(self, error: BaseException) -> str | None:
        """The parameter that a complaint misses: it is named, or an attribute of its None was asked for.

        What is passed already has a parameter of that name for another part (`decoder_input_ids`).
        """
        optional, text = self._optionals(), str(error)
        named: list[str] = re.findall(r"\b[a-z_]\w+\b", text) if not isinstance(error, AttributeError) else []
        if isinstance(error, AttributeError | TypeError) and "NoneType" in text:
            step = error.__traceback__
            while step is not None:
                named = [name for name, value in step.tb_frame.f_locals.items() if value is None] + named
                step = step.tb_next
        for name in named:
            if name in optional:
                return name
            if name in self.candidates and (parts := [other for other in optional if other.endswith(f"_{name}")]):
                return parts[0]
        return None

    def _of(self, parameter: inspect.Parameter) -> list[Spec]:
        """The candidates for one parameter; none if its default will do."""
        name = parameter.name
        if name in self._configured:
            return [configured_spec(name, self._configured[name])]
        if parameter.default is None and self._is_full:
            return self._optional(name)
        if parameter.default is not parameter.empty:
            is_endless = type(parameter.default) is int and parameter.default > STEPS and called.ENDLESS.search(name)
            return [Spec("value", value=STEPS)] if is_endless else []
        documented = self._documented.of(parameter.name, self._ids)
        if documented:
            return documented
        annotation = _annotation_for(self._function, self._tree, parameter)
        use = roles.ParameterUse() if self._tree is None else roles.uses(self._tree, name)
        is_number = called.NUMBER.search(name) and annotation is parameter.empty and not use.has_attributes
        if annotation is int or is_number or self._documented.calls_int(name):
            return [Spec("value", value=3)]
        if annotation is torch.Size:
            return [Spec("size", shape) for shape in ((BATCH, 3, IMAGE, IMAGE), (BATCH, TIME))]
        if annotation is list:
            return [Spec("streams", (1, TIME)), Spec("streams", (BATCH, TIME))]
        if typing.get_origin(annotation) in _LISTS and typing.get_args(annotation)[:1] == (torch.Tensor,):
            return self._lists()
        if is_tensor_type(annotation):
            integers = annotation.__name__ in ("LongTensor", "IntTensor")
            return self._ids(name) if integers else self._by_name(name)
        found = self._builder.by_annotation(annotation, name)
        if found is not parameter.empty:
            return [Spec("value", value=self._with_device(found, name))]
        is_tensor = annotation is torch.Tensor
        if is_tensor and called.EXAMPLES.search(name.lower()):
            return self._by_plain_name(name)
        if not is_tensor and any(not hasattr(torch.Tensor, attribute) for attribute in use.attributes):
            return [Spec("value", value=Helper(name))]
        return self._by_name(name)

    def _with_device(self, found: Any, name: str) -> Any:
        """Give a module the attribute `device`, which libraries set when they prepare it."""
        if isinstance(found, nn.Module) and not hasattr(found, "device"):
            found.device = torch.device(self._builder.device)
            self._builder.note_other(f"{name}.device", repr(self._builder.device))
        return found

    def _optional(self, name: str) -> list[Spec]:
        if called.NUMBER.search(name):
            return [Spec("value", value=3)]
        known = (called.MASK, called.LENGTHS, called.POSITIONS)
        return self._by_name(name) if any(pattern.search(name.lower()) for pattern in known) else []

    def _by_name(self, name: str) -> list[Spec]:
        lower = name.lower()
        use = roles.ParameterUse() if self._tree is None else roles.uses(self._tree, name)
        if roles.is_device(lower):
            return [Spec("value", value=torch.device(self._builder.device))]
        if use.words:
            return [Spec("value", value=word) for word in use.words]
        if not called.IDS.search(lower) and (parts := self._parts_of(name)) is not None:
            return parts
        if called.EXAMPLES.search(lower):
            kinds = ("examples", "ragged") if use.is_iterated else ("ragged", "examples")
            lists = [Spec(kind, (TIME,)) for kind in kinds]
            is_list = is_several(self._function, self._owner, name)
            if is_list and not isinstance(self._owner, nn.Module):
                return lists
            others = self._by_plain_name(name)
            if is_list is False:
                return [*others[: _MAX_CANDIDATES - len(lists)], *lists]
            return [*lists, *(self._lists() if is_list and not use.is_iterated else ()), *others]
        return self._by_plain_name(name)

    def _by_plain_name(self, name: str) -> list[Spec]:
        """Candidates for a parameter that is one tensor or a number, by its name and its uses."""
        lower = name.lower()
        use = roles.ParameterUse() if self._tree is None else roles.uses(self._tree, name)
        if called.MASK.search(lower):
            plain, *others = (
                Spec("mask", shape) for shape in ((BATCH, TIME), (BATCH, 1, TIME), (BATCH, 1, TIME, TIME))
            )
            return [plain, Spec("padding", (BATCH, TIME)), *others]
        if called.LENGTHS.search(lower):
            found = [Spec("lengths", (BATCH,)), Spec("value", value=torch.linspace(1, 0.6, BATCH))]
            return found[::-1] if self._documented.calls_relative(name) else found
        if called.POSITIONS.search(lower):
            return [Spec("positions", (BATCH, TIME)), Spec("positions", (TIME,))]
        if lower == "maps":
            return [Spec("value", value=[torch.randn(BATCH, width, IMAGE, IMAGE) for width in (8, 8, 8)])]
        if called.IDS.search(lower):
            return self._ids(name)
        floats = self._floats()
        if self._tree is not None and (named := dimensions(self._tree, name)):
            floats = [*self._documented.of_dimensions(named), *floats]
        if called.WAVES.search(lower):
            floats = [Spec("float", (BATCH, 1, SAMPLES)), Spec("float", (BATCH, SAMPLES)), *floats]
        if called.IMAGES.search(lower):
            floats = [*self._images(), *floats]
        if called.SEQUENCES.search(lower):
            floats.sort(key=lambda spec: len(spec.shape) != len((BATCH, TIME, "width")))
        if use.is_iterated:
            return [*self._lists(), *floats]
        if called.FLOATS.search(lower):
            return floats
        return [*floats[:3], *self._ids(name), Spec("value", value=3), *floats[3:]]

    def _parts_of(self, name: str) -> list[Spec] | None:
        """Candidates for a parameter that is unpacked by keys (`batch["ids"]`) or names (`ids, lengths = batch`).

        The parts get candidates by their own names. None if the parameter is not unpacked.
        """
        if self._tree is None:
            return None
        keys, names = keys_of(self._tree, name), unpacked_names(self._tree, name)
        # A part of a batch that is a batch already has no batch dimension.
        parts = [
            self._floats() if called.EXAMPLES.search(part.lower()) else self._by_name(part)
            for part in (keys or names)
            if part != name
        ]
        if not keys and len(names) < 2:
            return None
        if len(parts) < len(keys or names):
            parts.insert(names.index(name), [*self._ids(name), *self._floats()])
        found = []
        for choice in range(min(_MAX_WIDTHS, max(map(len, parts)))):
            values = [specs[min(choice, len(specs) - 1)].make("cpu") for specs in parts]
            found.append(Spec("value", value=dict(zip(keys, values, strict=True)) if keys else tuple(values)))
        return found

    def _lists(self) -> list[Spec]:
        """Several tensors: one for each layer of a list of layers, or two of a kind."""
        found: list[Spec] = []
        for part in parts(self._owner):
            first = [next(widths(layer), None) for layer in part] if isinstance(part, nn.ModuleList) else []
            known = [width for width in first if width is not None]
            if len(known) > 1:
                found.append(Spec("value", value=[torch.randn(width.shapes()[0]) for width in known]))
        found += [Spec("value", value=[torch.randn(spec.shape) for _ in range(2)]) for spec in self._floats()[:2]]
        return found

    def _images(self) -> list[Spec]:
        """Inputs of the layers that take images, or else images of the size that the owner states."""
        found = [shape for width in self._widths if width.spatial == 2 for shape in width.shapes()]
        if not found:
            height, width = sides_of(self._owner) or (self.named.first(CALLED_SIDES) or IMAGE,) * 2
            found = [(BATCH, self.named.first(CALLED_CHANNELS) or COLOURS, height, width)]
        return [Spec("float", shape) for shape in found]

    def _floats(self) -> list[Spec]:
        shapes = [shape for width in self._widths for shape in width.shapes()]
        shapes += [shape for size in self._assumed_numbers() for shape in ((BATCH, TIME, size), (BATCH, size, TIME))]
        shapes += [(BATCH, TIME, 64), (BATCH, 3, IMAGE, IMAGE), (BATCH, TIME), (BATCH, 64), (BATCH,)]
        return [Spec("float", shape) for shape in dict.fromkeys(shapes)]

    def _assumed_numbers(self) -> list[int]:
        """Numbers that were assumed for the constructor, which may count anything."""
        found = [number for number in self._builder.numbers.assumed.values() if type(number) is int and number > 1]
        return list(dict.fromkeys(found))[:_MAX_WIDTHS]

    def _ids(self, name: str) -> list[Spec]:
        tables = [part for part in parts(self._owner) if isinstance(part, nn.Embedding)]
        largest = max(0, min([2, *(table.num_embeddings for table in tables)]) - 1)
        counted, declared = self._vocabulary(name)
        books = [len(part) for part in parts(self._owner) if isinstance(part, nn.ModuleList)]
        shapes = [(BATCH, TIME), (BATCH,), *((BATCH, n, TIME) for n in books), *((BATCH, n) for n in books), (TIME,)]
        if called.STEPS.search(name.lower()):
            shapes.insert(0, (BATCH,))
        spec = Spec("ids", largest=largest, declared=declared, counted=counted)
        return [replace(spec, shape=shape) for shape in dict.fromkeys(shapes)]

    def _vocabulary(self, name: str) -> tuple[str, tuple[int, int, str] | None]:
        """The range of ids that the model's configuration states for this input, and the key that states it.

        Nothing that was assumed counts.
        """
        if not re.search(r"ids$|tokens$", name):
            return "", None
        for key in _KNOWS_VOCABULARY:
            known = self.named.states(key)
            if known is not None:
                return key, (0, known - 1, f"`{name}` with `{key}` {known}")
        return "", None


def _as_batch(shown: Mapping[str, Spec]) -> dict[str, Spec] | None:
    """The tensors of an example with the usual batch size; None if they are not tensors of one other batch size."""
    sizes = {spec.shape[0] if spec.kind == "float" and len(spec.shape) > 1 else 0 for spec in shown.values()}
    if len(sizes) > 1 or sizes <= {0, BATCH}:
        return None
    return {name: replace(spec, shape=(BATCH, *spec.shape[1:])) for name, spec in shown.items()}


def _dummies(owner: Any) -> dict[str, Any]:
    """The inputs that an object has for being tried."""
    try:
        found = getattr(owner, "dummy_inputs", None)
    except Exception:
        return {}
    return dict(found) if isinstance(found, dict) else {}


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, type(torch.LongTensor)) or issubclass(kind, torch.Tensor)


def _annotation_for(function: Callable[..., Any], tree: ast.FunctionDef | None, parameter: inspect.Parameter) -> Any:
    """The annotation of a parameter, or else of the parameter of a function that it is passed on to."""
    found = annotation_of(function, parameter)
    if found is not parameter.empty or tree is None:
        return found
    for name, at in roles.handed_on(tree, parameter.name):
        callee = getattr(function, "__globals__", {}).get(name)
        if not inspect.isfunction(callee) or callee is function:
            continue
        taken = list(inspect.signature(callee).parameters.values())
        for place, other in enumerate(taken):
            if at in (place, other.name) and other.kind not in (other.VAR_POSITIONAL, other.VAR_KEYWORD):
                found = annotation_of(callee, other)
                if found is not parameter.empty:
                    return found
    return parameter.empty
