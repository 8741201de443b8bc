"""What to call a function with: tensors and numbers from settings, documentation, annotations, defaults and names."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import itertools
import re
import textwrap
import typing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from . import examples, roles
from .classes import annotation_of, is_tensor_type
from .dimensions import dimensions, unpacked
from .settings import keys_of
from .surroundings import Helper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .classes import Attempt

BATCH, TIME, STEPS, IMAGE, SAMPLES = 2, 5, 4, 32, 1600
_MAX_COMBINATIONS = 80
_MAX_CANDIDATES = 14
_IDS = re.compile(
    r"(?:^|_)(?:ids?|idx|index|indices|tokens?|codes?|labels?|phones?|units?|history|speakers?|prompts?|types?|(?:time)?steps?|t)$"
)
_EXAMPLES = re.compile(r"^(?:examples|batch|samples|items|texts|sequences|rows|features|instances|dialogues)$")
_MASK = re.compile(r"mask")
_LENGTHS = re.compile(r"(?:^|_)len(?:gth)?s$")
_POSITIONS = re.compile(r"(?:^|_)pos(?:ition)?s?(?:_ids)?$")
_NUMBER = re.compile(r"^(?:n|num|max|n_\w+|num_\w+|max_\w+|steps|size|k|times|missing|\w*len(?:gth)?|\w*offset|start)$")
_ENDLESS = re.compile(r"frames|steps|iter|max_(?:new|len)")
_WAVES = re.compile(r"wav|audio|signal|speech")
_FLOATS = re.compile(
    r"mel|feat|wav|audio|signal|speech|image|pixel|spec|hidden|state|memory|query|f0|energy|noise|latent"
)
_SEQUENCES = re.compile(r"hidden|state|memory|query|context|encoded")
_STEPS = re.compile(r"^t$|steps?$")
_IMAGES = re.compile(r"pixel|image|img|picture")
_SAYS_IDS = re.compile(r"\b(?:ids?|indices|index|tokens?|codes?|labels?|long|int(?:egers?|64)?)\b")
_SAYS_REAL = re.compile(r"\b(?:float\w*|real|features?|(?:mel_?)?spectrograms?|waveforms?)\b", re.IGNORECASE)
#: What stands in brackets and is no shape.
_REQUIRED = re.compile(r"required|optional|default")
_SAYS_MASK = re.compile(r"\b(?:mask|bool|True)\b")
_BATCHES, _TIMES = (
    frozenset(("n", "b", "bs", "batch", "batch_size")),
    frozenset(("t", "l", "s", "time", "seq_len", "seq_length", "sequence_length")),
)
_CHANNELS, _SIDES = frozenset(("c", "ch", "channels")), frozenset(("h", "w", "height", "width"))
_CALLED_CHANNELS = ("in_channels", "channels")
_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
_CALLED_SIDES = ("image_size", "img_size", "sample_size", "input_size")
#: Up to how many channels an image has that is no feature map.
_COLOURS = 4
#: A product of matrices that do not fit: the width that the second one asks for.
_PRODUCT = re.compile(r"(?:\(\d+x\d+ and |\[\d+, \d+\] X \[)(\d+)(?:x|, )\d+[\])]")
_BATCHED = re.compile(r"or (\d)D \(batched\)")
#: A convolution that is given other channels than its own.
_OTHER_CHANNELS = re.compile(r"expected input\[([\d, ]+)\] to have (\d+) channels")
_DIMENSIONS = re.compile(r"values to unpack \(expected (\d)|[Ee]xpected (\d)(?:D| dims|-dim)|must be a (\d)D")
#: What complains that there is less than a kernel, a window or a padding covers.
_TOO_SHORT = re.compile(r"Kernel size can't be greater|[Pp]adding size should be less|too (?:short|small)")
_MAX_WIDTHS = 3
#: So many kinds of one more input are tried.
_MOST_KINDS = 8
#: Of so many numbers a tensor may consist that is made up.
_MOST = 1 << 22
_KNOWS_VOCABULARY = ("vocab_size", "vocabulary_size", "n_vocab", "num_embeddings")


class Example(dict[str, Any]):
    """One example of a data set: whatever is asked for is a sequence, of ids or positions, of a length of its own."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def __missing__(self, key: str) -> torch.Tensor:
        return torch.arange(self._length) if _POSITIONS.search(key) else _bits(self._length)


def _bits(length: int) -> torch.Tensor:
    return torch.tensor([number % 2 for number in range(length)])


@dataclass(frozen=True)
class Spec:
    """How to make one argument.

    `kind` is "float" | "ids" | "mask" | "padding" | "positions" | "lengths" | "examples" | "ragged" | "streams" |
    "size" | "value": a padding is the mask of a batch whose sequences differ in length, examples are what a data set
    yields, ragged are such sequences of ids, streams are lists of tensors of ids, a size is a `torch.Size`.
    """

    kind: str
    shape: tuple[int, ...] = ()
    value: Any = None
    #: The largest id that is safe everywhere, and the range that an input is declared to have, with what says so.
    largest: int = 1
    declared: tuple[int, int, str] | None = None
    #: The number that is to say so, if it does: by it a table has to be sized that the input reaches.
    counted: str = ""
    is_documented: bool = False
    #: Whether settings or documentation say that the numbers are real.
    is_real: bool = False
    #: Whether documentation says how many features there are.
    has_width: bool = False
    #: How long sequences are: what stands for `TIME` in the shape.
    time: int = TIME
    #: The first of the positions, and after how many they begin anew.
    start: int = 0
    period: int = 0
    #: The dimensions whose size is a guess.
    free: tuple[int, ...] = ()
    #: Whether nothing says even what kind of thing it is.
    is_guess: bool = False
    #: How many streams there are.
    number: int = 2

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.time if size == TIME else size for size in self.shape)

    def make(self, device: str, scale: float = 1.0, fill: int | None = None) -> Any:
        """The argument; `scale` multiplies real numbers, `fill` is the id to use."""
        sizes = self.sizes
        if self.kind == "value":
            return self.value
        if self.kind == "size":
            return torch.Size(sizes)
        if self.kind == "examples":
            return [Example(length) for length in self._lengths(BATCH)]
        if self.kind == "ragged":
            return [_bits(length) for length in self._lengths(BATCH)]
        if self.kind == "streams":
            return [_bits(self.time).expand(sizes).to(device) for _ in range(self.number)]
        if self.kind == "float":
            return (torch.randn(sizes) * scale).to(device)
        if self.kind == "mask":
            mask = torch.ones(sizes, dtype=torch.bool)
            mask.view(-1)[::2] = False
            return mask.to(device)
        if self.kind == "padding":
            return (torch.arange(sizes[-1]) < torch.tensor(self._lengths(sizes[0])).unsqueeze(-1)).to(device)
        if self.kind == "positions":
            positions = torch.arange(sizes[-1]) % (self.period or max(1, sizes[-1])) + self.start
            return positions.expand(sizes).to(device)
        if self.kind == "lengths":
            return torch.tensor(self._lengths(torch.Size(sizes).numel())).reshape(sizes).to(device)
        ids = torch.arange(max(1, torch.Size(sizes).numel())).reshape(sizes) % (self.largest + 1)
        return (ids if fill is None else torch.full(sizes, fill)).to(device)

    @property
    def is_made_up_real(self) -> bool:
        """Whether it holds real numbers only since nothing says otherwise."""
        if self.kind == "float":
            return not self.is_real
        return any(isinstance(part, torch.Tensor) and part.is_floating_point() for part in tree_leaves(self.value))

    def whole(self) -> Spec:
        """The same with integers in the place of real numbers."""
        if self.kind == "float":
            return replace(self, kind="ids", largest=0)
        return replace(self, value=tree_map_only(torch.Tensor, lambda tensor: tensor.long(), self.value))

    def _lengths(self, number: int) -> list[int]:
        """How long the sequences of a batch are: the longest comes first."""
        return [max(1, self.time - 2 * (row % 2)) for row in range(number)]

    def __str__(self) -> str:
        if self.kind == "value":
            return repr(tree_map_only(torch.Tensor, lambda tensor: list(tensor.shape), self.value))
        if self.kind == "streams":
            return f"{self.number} streams of ids {'x'.join(map(str, self.sizes))}"
        return f"{self.kind} {'x'.join(map(str, self.sizes))}" if self.sizes else self.kind


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
        self._tree = _tree(function)
        self._text = inspect.getdoc(function) or ""
        self._symbols: dict[str, int] = {}
        self._widths = list(dict.fromkeys(_widths(owner)))
        self.candidates: dict[str, list[Spec]] = {}
        for parameter in inspect.signature(function).parameters.values():
            found = [] if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) else self._of(parameter)
            if found:
                self.candidates[parameter.name] = found
        self._tried: set[tuple[tuple[str, str], ...]] = set()

    def _offered(self) -> Iterator[dict[str, Spec]]:
        """What the object itself, or an example of its use, says that it can be given."""
        names = set(inspect.signature(self._function).parameters)
        rest = {name: specs[0] for name, specs in self.candidates.items()}
        for given in (*self._shown(), _dummies(self._owner)):
            if given and given.keys() <= names and not given.keys() & self._configured.keys():
                yield {**rest, **{name: self._like(name, value) for name, value in given.items()}}

    def _shown(self) -> Iterator[dict[str, Any]]:
        """What examples of the use of its class call an object with."""
        if not isinstance(self._owner, nn.Module) or getattr(self._function, "__name__", "") != "forward":
            return
        for example in examples.shown(self._builder.source, type(self._owner)):
            given, named = example.called_with or ((), {})
            try:
                yield dict(inspect.signature(self._function).bind(*given, **named).arguments)
            except TypeError:
                continue

    def _like(self, name: str, value: Any) -> Spec:
        """A specification of something like a tensor that was seen; ids and masks have the usual sizes."""
        if not isinstance(value, torch.Tensor):
            return Spec("value", value=value)
        if value.is_floating_point() and TIME not in value.shape:
            return Spec("float", tuple(value.shape), is_documented=True)
        usual = self._by_name(name)[0]
        is_usual = usual.kind in ("ids", "mask", "positions") and value.dim() == len(usual.shape)
        return usual if is_usual else Spec("value", value=value)

    def combinations(self) -> Iterator[dict[str, Spec]]:
        """Arguments by name; after the likeliest come those that examples show, then what `learn` adds on the way."""
        while len(self._tried) < _MAX_COMBINATIONS:
            names = list(self.candidates)
            ranked = [list(enumerate(specs[:_MAX_CANDIDATES])) for specs in self.candidates.values()]
            products = itertools.islice(itertools.product(*ranked), 20_000)
            for chosen in sorted(products, key=lambda specs: sum(rank for rank, _ in specs)):
                key = tuple((name, str(spec)) for name, (_, spec) in zip(names, chosen, strict=True))
                if key not in self._tried:
                    self._tried.add(key)
                    yield {name: spec for name, (_, spec) in zip(names, chosen, strict=True)}
                    if len(self._tried) == 1:
                        yield from self._offered()
                    break
            else:
                return

    def optional(self, given: Mapping[str, Spec]) -> dict[str, list[Spec]]:
        """What may be passed besides: the tensors that are left out as long as nobody passes them.

        `given` are inputs with which it works; what is of the same kind is mostly of the same shape.
        """
        found: dict[str, list[Spec]] = {}
        for parameter in inspect.signature(self._function).parameters.values():
            name = parameter.name
            if parameter.default is not None or name in given or not self._may_be_tensor(parameter):
                continue
            specs = self._documented(parameter) or [spec for spec in self._by_name(name) if spec.kind != "value"]
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
        annotation = _annotated(self._function, self._tree, parameter)
        if annotation is not parameter.empty:
            kinds = typing.get_args(annotation) or (annotation,)
            return any(isinstance(kind, type | type(torch.LongTensor)) and _is_tensor(kind) for kind in kinds)
        use = roles.Use() if self._tree is None else roles.uses(self._tree, parameter.name)
        is_other = _NUMBER.search(parameter.name) or roles.is_settings(parameter.name) or use.is_called
        return not is_other and all(hasattr(torch.Tensor, attribute) for attribute in use.attributes)

    def with_more(self, given: Mapping[str, Spec], name: str, kinds: list[Spec]) -> Iterator[dict[str, Spec]]:
        """The same inputs with one more, of each kind in turn; what `learn` adds on the way comes next."""
        kept = self.candidates, self._tried
        self.candidates, self._tried = {name: kinds}, set()
        try:
            for chosen in itertools.islice(self.combinations(), _MOST_KINDS):
                yield {**given, **chosen}
        finally:
            self.candidates, self._tried = kept

    @property
    def of_constructor(self) -> frozenset[str]:
        """What the constructor of the owner can be passed."""
        return frozenset(_defaults(self._owner))

    def is_said(self, name: str) -> bool:
        """Whether the settings say what an input is."""
        return name in self._configured

    def learn(self, error: BaseException, tried: Mapping[str, Spec]) -> None:
        """Take the numbers in a complaint about shapes for the widths, or the dimensions, that inputs should have.

        `tried` are the inputs that the complaint is about.
        """
        if not self.candidates:
            self._pass_something()
        elif (name := self._lacking(error)) is not None:
            self.candidates[name] = self._by_name(name)
            return
        if not tried or not isinstance(error, RuntimeError | ValueError | AssertionError):
            return
        text = str(error)[:400]
        product = _PRODUCT.search(text)
        numbers = [product[1]] if product else re.findall(r"\d+", text)
        learnt = [int(number) for number in numbers if 1 <= int(number) <= 100_000]
        expected = next((int(a or b or c) for a, b, c in _DIMENSIONS.findall(text)), None)
        if (batched := _BATCHED.search(text)) is not None:
            expected = int(batched[1])
        channels = _OTHER_CHANNELS.search(text)
        has_streams = any(spec.kind == "streams" for spec in tried.values())
        for name, specs in self.candidates.items():
            if (spec := tried.get(name)) is None:
                continue
            plain = next((spec for spec in specs if spec.kind == "float" and not spec.is_documented), None)
            if name in self._configured:
                continue
            new: list[Spec] = []
            if _TOO_SHORT.search(text) and spec.kind == "float" and TIME in spec.shape:
                new = [replace(spec, shape=tuple(SAMPLES if size == TIME else size for size in spec.shape))]
            elif channels and spec.kind == "float" and _is_given(channels[1], spec):
                new = [replace(spec, shape=_with(spec.shape, 1, int(channels[2])))]
            elif has_streams and expected is not None:
                # Only lists of sequences can be what so many values are unpacked from.
                specs[:] = [replace(one, number=expected) if one.kind == "streams" else one for one in specs]
            elif expected is not None and (plain is not None or (spec.free and len(spec.shape) != expected)):
                images = self._images() if expected == len((BATCH, "channels", "height", "width")) else []
                new = [*images, *self._of_dimensions(["b", *"_" * (expected - 1)])]
            elif spec.free:
                new = [replace(spec, shape=_with(spec.shape, dim, size)) for size in learnt for dim in spec.free]
            elif plain is not None:
                widths = [width for width in learnt if width > 1]
                longer = [_with(spec.shape, len(spec.shape) - 1, width) for width in widths if len(spec.shape) > 2]
                shapes = [*longer, *(shape for width in widths for shape in ((BATCH, TIME, width), (BATCH, width)))]
                new = [replace(plain, shape=shape) for shape in shapes]
            # What was asked for is likelier than what is left.
            at = 2 if _WAVES.search(name.lower()) else 1
            specs[at:at] = [spec for spec in dict.fromkeys(new) if spec not in specs and is_small(spec)]

    def _pass_something(self) -> None:
        """Pass one of several parameters that may all be None: what is said to be the main input, or the first."""
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
        """The parameter that a complaint misses: it is named, or it is the None that something was asked of.

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
            return [_configured(name, self._configured[name])]
        if parameter.default is None and self._is_full:
            return self._optional(name)
        if parameter.default is not parameter.empty:
            is_endless = type(parameter.default) is int and parameter.default > STEPS and _ENDLESS.search(name)
            return [Spec("value", value=STEPS)] if is_endless else []
        documented = self._documented(parameter)
        if documented:
            return documented
        annotation = _annotated(self._function, self._tree, parameter)
        use = roles.Use() if self._tree is None else roles.uses(self._tree, name)
        is_number = _NUMBER.search(name) and annotation is parameter.empty and not use.has_attributes
        if annotation is int or is_number or self._is_called_int(name):
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
            return [Spec("value", value=self._placed(found, name))]
        is_tensor = annotation is torch.Tensor
        if not is_tensor and any(not hasattr(torch.Tensor, attribute) for attribute in use.attributes):
            return [Spec("value", value=Helper(name))]
        return self._by_name(name)

    def _placed(self, found: Any, name: str) -> Any:
        """A module that is given knows its device, as it does once a library has prepared it."""
        if isinstance(found, nn.Module) and not hasattr(found, "device"):
            found.device = torch.device(self._builder.device)
            self._builder.note_other(f"{name}.device", repr(self._builder.device))
        return found

    def _optional(self, name: str) -> list[Spec]:
        if _NUMBER.search(name):
            return [Spec("value", value=3)]
        known = (_MASK, _LENGTHS, _POSITIONS)
        return self._by_name(name) if any(pattern.search(name.lower()) for pattern in known) else []

    def _by_name(self, name: str) -> list[Spec]:
        lower = name.lower()
        use = roles.Use() if self._tree is None else roles.uses(self._tree, name)
        if roles.is_device(lower):
            return [Spec("value", value=torch.device(self._builder.device))]
        if use.words:
            return [Spec("value", value=word) for word in use.words]
        if not _IDS.search(lower) and (parts := self._parts_of(name)) is not None:
            return parts
        if _EXAMPLES.search(lower):
            kinds = ("examples", "ragged") if use.is_iterated else ("ragged", "examples")
            return [Spec(kind, (TIME,)) for kind in kinds]
        if _MASK.search(lower):
            plain, *others = (
                Spec("mask", shape) for shape in ((BATCH, TIME), (BATCH, 1, TIME), (BATCH, 1, TIME, TIME))
            )
            return [plain, Spec("padding", (BATCH, TIME)), *others]
        if _LENGTHS.search(lower):
            return [Spec("lengths", (BATCH,))]
        if _POSITIONS.search(lower):
            return [Spec("positions", (BATCH, TIME)), Spec("positions", (TIME,))]
        if lower == "maps":
            return [Spec("value", value=[torch.randn(BATCH, width, IMAGE, IMAGE) for width in (8, 8, 8)])]
        if _IDS.search(lower):
            return self._ids(name)
        floats = self._floats()
        if self._tree is not None and (named := dimensions(self._tree, name)):
            floats = [*self._of_dimensions(named), *floats]
        if _WAVES.search(lower):
            floats = [Spec("float", (BATCH, 1, SAMPLES)), Spec("float", (BATCH, SAMPLES)), *floats]
        if _IMAGES.search(lower):
            floats = [*self._images(), *floats]
        if _SEQUENCES.search(lower):
            floats.sort(key=lambda spec: len(spec.shape) != len((BATCH, TIME, "width")))
        if use.is_iterated:
            return [*self._lists(), *floats]
        if _FLOATS.search(lower):
            return floats
        return [*floats[:3], *self._ids(name), Spec("value", value=3), *floats[3:]]

    def _parts_of(self, name: str) -> list[Spec] | None:
        """What is taken apart by keys (`batch["ids"]`) or into names (`ids, lengths = batch`), by what they are called.

        None if it is not; there are several choices of its parts.
        """
        if self._tree is None:
            return None
        keys, names = keys_of(self._tree, name), unpacked(self._tree, name)
        # What is a batch already has no batches in it.
        parts = [
            self._floats() if _EXAMPLES.search(part.lower()) else self._by_name(part)
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
        for part in _parts(self._owner):
            first = [next(_widths(layer), None) for layer in part] if isinstance(part, nn.ModuleList) else []
            widths = [width for width in first if width is not None]
            if len(widths) > 1:
                found.append(Spec("value", value=[torch.randn(width.shapes()[0]) for width in widths]))
        found += [Spec("value", value=[torch.randn(spec.shape) for _ in range(2)]) for spec in self._floats()[:2]]
        return found

    def _images(self) -> list[Spec]:
        """What the layers take that take images."""
        return [Spec("float", shape) for width in self._widths if width.spatial == 2 for shape in width.shapes()]

    def _floats(self) -> list[Spec]:
        shapes = [shape for width in self._widths for shape in width.shapes()]
        shapes += [(BATCH, TIME, 64), (BATCH, 3, IMAGE, IMAGE), (BATCH, TIME), (BATCH, 64), (BATCH,)]
        return [Spec("float", shape) for shape in dict.fromkeys(shapes)]

    def _ids(self, name: str) -> list[Spec]:
        tables = [part for part in _parts(self._owner) if isinstance(part, nn.Embedding)]
        largest = max(0, min([2, *(table.num_embeddings for table in tables)]) - 1)
        counted, declared = self._vocabulary(name)
        books = [len(part) for part in _parts(self._owner) if isinstance(part, nn.ModuleList)]
        shapes = [(BATCH, TIME), (BATCH,), *((BATCH, n, TIME) for n in books), *((BATCH, n) for n in books), (TIME,)]
        if _STEPS.search(name.lower()):
            shapes.insert(0, (BATCH,))
        spec = Spec("ids", largest=largest, declared=declared, counted=counted)
        return [replace(spec, shape=shape) for shape in dict.fromkeys(shapes)]

    def _vocabulary(self, name: str) -> tuple[str, tuple[int, int, str] | None]:
        """The range of ids that the configuration of the model states, if it is that of this input, and what states it.

        Nothing that was assumed counts.
        """
        if not re.search(r"ids$|tokens$", name):
            return "", None
        for key in _KNOWS_VOCABULARY:
            known = self.states(key)
            if known is not None:
                return key, (0, known - 1, f"`{name}` with `{key}` {known}")
        return "", None

    def states(self, name: str) -> int | None:
        """The number that the owner, its arguments or its configuration call so; nothing that was assumed counts."""
        return None if name in self._builder.numbers.assumed else self._known(name)

    def _known(self, name: str) -> int | None:
        """The number that the owner, its arguments or its configuration call so."""
        arguments = self._builder.arguments.get(id(self._owner), {})
        for place in (self._owner, arguments, _defaults(self._owner), *arguments.values()):
            found = (
                place.get(name)
                if isinstance(place, dict)
                else _plain(place).get(name, getattr(type(place), name, None))
            )
            if type(found) is int:
                return found
        return self._builder.numbers.assumed.get(name)

    def numbers(self) -> Iterator[tuple[str, int]]:
        """The numbers that the owner, its arguments and its configuration have names for, also those assumed."""
        arguments = self._builder.arguments.get(id(self._owner), {})
        for place in (self._owner, arguments, _defaults(self._owner), *arguments.values()):
            for name, value in (place if isinstance(place, dict) else _plain(place)).items():
                if type(value) is int and isinstance(name, str):
                    yield name, value
        yield from ((name, value) for name, value in self._builder.numbers.assumed.items() if type(value) is int)

    # -- documentation ------------------------------------------------------------------------------------------------

    def _documented(self, parameter: inspect.Parameter) -> list[Spec]:
        """The tensor that the docstring, or an annotation such as `Float[Tensor, "batch time n"]`, describes."""
        found = self._shape_in_text(parameter.name) or self._shape_in_annotation(parameter.name)
        shape, says = found or ("", "")
        dims = [part for part in re.split(r"[\s,]+", shape) if part]
        if not dims or not all(re.fullmatch(r"\w+", part) for part in dims):
            return []
        kind = self._kind(parameter.name, dims, says)
        if kind == "ids":
            return [replace(spec, shape=self._sizes(dims)) for spec in self._ids(parameter.name)[:1]]
        if kind == "float":
            is_real = _SAYS_REAL.search(says) is not None
            has_width = len(dims) > 1 and roles.is_width(dims[-1])
            specs = self._of_dimensions(dims)
            return [replace(spec, is_documented=True, is_real=is_real, has_width=has_width) for spec in specs]
        return [Spec(kind, self._sizes(dims), is_documented=True)]

    def _of_dimensions(self, dims: list[str]) -> list[Spec]:
        """Real numbers with certain dimensions: guesses, as far as nothing says how large they are."""
        free = tuple(at for at, name in enumerate(dims) if at and self._said(name, at) is None)
        sizes = self._sizes(dims)
        found = [Spec("float", sizes, free=free)]
        wide = [at for at in free if dims[at].lower() in _CHANNELS] or list(free[-1:])
        for width in list(dict.fromkeys(width.size for width in self._widths))[:_MAX_WIDTHS]:
            found += [Spec("float", _with(sizes, at, width), free=free) for at in wide]
        sides = [at for at in free if dims[at].lower() in _SIDES or dims[at].startswith("(")]
        large = [
            replace(spec, shape=tuple(IMAGE if at in sides else size for at, size in enumerate(spec.shape)))
            for spec in found
        ]
        return [spec for spec in dict.fromkeys([*found, *large]) if is_small(spec)]

    def _is_called_int(self, name: str) -> bool:
        """Whether the docstring says of a parameter that it is an `int`."""
        return re.search(rf"\b{re.escape(name)}\s*(?:\(int\b[^()\n]*\)|:\s*int\b)", self._text) is not None

    def _shape_in_text(self, name: str) -> tuple[str, str] | None:
        stated = rf"\b{re.escape(name)}\b\s*\([^()\n]*\bshape\b[^()\n]*\(([^()\n]+)\)"
        if (found := re.search(stated, self._text)) is not None:
            return found[1], found[0].rpartition("shape")[0]
        pattern = rf"\b{re.escape(name)}\b\s*(?:\([^()\n]*\))?\s*:[^();\n]{{0,40}}\(([^()\n]+)\)([^;\n]*)"
        said = re.finditer(pattern, self._text)
        one = next((one for one in said if not _REQUIRED.match(one[1])), None)
        return (one[1], one[0].split(":", 1)[1]) if one else None

    def _shape_in_annotation(self, name: str) -> tuple[str, str] | None:
        arguments = [] if self._tree is None else [*self._tree.args.args, *self._tree.args.kwonlyargs]
        for argument in arguments:
            node = argument.annotation
            if argument.arg == name and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
                last = node.slice.elts[-1]
                if isinstance(last, ast.Constant) and isinstance(last.value, str):
                    return last.value, ast.unparse(node.value).lower()
        return None

    def _kind(self, name: str, dims: list[str], says: str) -> str:
        if _SAYS_MASK.search(says) or _MASK.search(name):
            return "mask"
        if _POSITIONS.search(name):
            return "positions"
        if _SAYS_IDS.search(says) or _IDS.search(name):
            return "ids"
        return "float"

    def _sizes(self, dims: list[str]) -> tuple[int, ...]:
        return tuple(self._dimension(name, at) for at, name in enumerate(dims))

    def _dimension(self, name: str, at: int) -> int:
        said = self._said(name, at)
        if said is not None:
            return said
        is_side = name.lower() in _SIDES or name.startswith("(")
        guess = roles.EQUAL_SIZE if is_side or self._builder.numbers.variant == roles.EQUAL else TIME
        return guess if name == "_" else self._symbols.setdefault(name, guess)

    def _said(self, name: str, at: int) -> int | None:
        """How large a dimension is, where its name or the owner says so."""
        lower = name.lower()
        if name.isdigit():
            return int(name)
        if (lower in _BATCHES and not at) or (lower in _BATCHES - {"n"}):
            return BATCH
        if lower in _TIMES or (lower == "n" and at):
            return TIME
        known = self._known(name)
        if known is None and lower in _CHANNELS:
            known = next((size for key in _CALLED_CHANNELS if (size := self._known(key)) is not None), None)
        return known


@dataclass(frozen=True)
class _Width:
    """How wide the input of a layer is, and how many dimensions follow the channels."""

    size: int
    spatial: int = 0

    #: How long the sides of images are said to be, if that is said.
    sides: tuple[int, ...] = ()

    def shapes(self) -> list[tuple[int, ...]]:
        if self.spatial:
            sides = self.sides if len(self.sides) == self.spatial else (IMAGE,) * self.spatial
            return [(BATCH, self.size, *sides)]
        return [(BATCH, TIME, self.size), (BATCH, self.size), (self.size,)]


def _dummies(owner: Any) -> dict[str, Any]:
    """The inputs that an object has for being tried."""
    try:
        found = getattr(owner, "dummy_inputs", None)
    except Exception:
        return {}
    return dict(found) if isinstance(found, dict) else {}


def _is_given(sizes: str, spec: Spec) -> bool:
    """Whether a complaint is about the very tensor that was given, maybe as a batch of one."""
    found = tuple(map(int, sizes.split(",")))
    return len(spec.sizes) > 2 and (found == spec.sizes or found == (1, *spec.sizes))


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, type(torch.LongTensor)) or issubclass(kind, torch.Tensor)


def is_small(spec: Spec) -> bool:
    """Whether it is no larger than what may be made up."""
    return torch.Size(spec.shape).numel() <= _MOST


def _with(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _parts(owner: Any) -> list[nn.Module]:
    return list(owner.modules()) if isinstance(owner, nn.Module) else []


def _widths(owner: Any) -> Iterator[_Width]:
    """What the layers of a module take, in their order; what takes images comes first if it is the first layer."""
    sides = _sides(owner)
    first = next((part for part in _parts(owner) if part._parameters and not part._modules), None)
    if isinstance(first, nn.Conv2d) and first.in_channels <= _COLOURS:
        yield _Width(first.in_channels, len(first.kernel_size), sides)
    for part in _parts(owner):
        if isinstance(part, nn.modules.conv._ConvNd):
            yield _Width(part.in_channels, len(part.kernel_size), sides)
        elif isinstance(part, nn.LayerNorm):
            yield _Width(part.normalized_shape[-1])
        else:
            for name in ("in_features", "input_size", "d_model", "embed_dim"):
                width = getattr(part, name, None)
                if type(width) is int:
                    yield _Width(width)
    for name, value in _plain(owner).items():
        if type(value) is int and re.search(r"width|dim|size|hidden|channels", name):
            yield _Width(value)
        elif isinstance(value, torch.Tensor) and value.dim():
            yield _Width(value.shape[-1])
    if isinstance(owner, nn.Module):
        for tensor in (*owner.parameters(recurse=False), *owner.buffers(recurse=False)):
            if tensor.dim():
                yield _Width(tensor.shape[-1])


def _sides(owner: Any) -> tuple[int, ...]:
    """How high and wide images are, where the object, its configuration or a layer of it says so."""
    said = [getattr(owner, name, None) for name in ("default_cfg", "config")]
    for place in (owner, *said, *_parts(owner)):
        for name in _CALLED_SIDES:
            found = place.get(name) if isinstance(place, dict) else getattr(place, name, None)
            sides = (found, found) if type(found) is int else found
            if isinstance(sides, list | tuple) and len(sides) > 1 and all(type(side) is int for side in sides):
                return tuple(sides[-2:])
    return ()


def _defaults(owner: Any) -> dict[str, Any]:
    """What the constructor of an object was called with where nothing was passed."""
    try:
        parameters = inspect.signature(type(owner).__init__).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}


def _plain(owner: Any) -> dict[str, Any]:
    return getattr(owner, "__dict__", {})


def _configured(name: str, said: Any) -> Spec:
    """An input that the settings describe: a value, or a table with `shape` and, for ids, `low` and `high`."""
    if not isinstance(said, dict):
        return Spec("value", value=said)
    shape = tuple(said["shape"])
    if "high" in said:
        low = said.get("low", 0)
        return Spec("ids", shape, largest=min(1, said["high"]), declared=(low, said["high"], f"`{name}` as configured"))
    return Spec("float", shape, is_documented=True, is_real=True)


def _annotated(function: Callable[..., Any], tree: ast.FunctionDef | None, parameter: inspect.Parameter) -> Any:
    """What a parameter is annotated with, or else the parameter of a function that it is handed on to."""
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


def _tree(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """The syntax of a function; None if its source is not known."""
    try:
        lines = inspect.getsource(inspect.unwrap(function))
        node = ast.parse(textwrap.dedent(lines)).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None
