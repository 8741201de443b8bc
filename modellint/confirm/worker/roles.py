"""Roles of parameters, by their names and their uses in the code, where no other source tells their arguments."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

#: The choices of assumed numbers: a fact that rests on them must hold for each.
VARIANTS = (0, 1, 2)
#: One more choice, for facts in which no number matters: all sizes are equal, so that shapes fit.
EQUAL = 3
EQUAL_SIZE = 8
#: The choice in which fractions are integers.
_WHOLE = 1
_COUNT = re.compile(
    r"vocab|class|token|tags?$|label|speaker|singer|phone|code|entries|rows|bins?$|embeddings|symbol|unit|char"
    r"|bucket|lang|cardinal|^n$|^num$|(?:^|_)id$"
)
_FEATURES = re.compile(r"mel|mfcc|feat|input_dim|^idim$|in_dim|input_size|in_features")
_WIDTH = re.compile(r"channel|width|hidden|dim|size|embd|d_model|ffn|inner|^out")
_HEADS, _LAYERS = (
    re.compile(r"heads?$"),
    re.compile(r"layers?$|depth|blocks?$|stages?$|members|experts|codebooks$|streams|books$"),
)
_LENGTH = re.compile(r"len|longest|positions|context|steps|frames|time")
_LARGEST = re.compile(r"(?:^|_)max(?:imum|imal)?|longest")
#: Numbers by role, one for each variant. Widths that meet must agree, so they are the same for every name.
_NUMBERS: tuple[tuple[re.Pattern[str], tuple[int, int, int, int]], ...] = (
    (re.compile(r"(?:^|_)(?:spatial_dims?|ndims?)$"), (2, 2, 2, 2)),
    (re.compile(r"^(?:image|img)_(?:size|height|width)$"), (32, 32, 32, 32)),
    (re.compile(r"^patch_(?:size|height|width)$"), (4, 4, 4, 4)),
    (_HEADS, (4, 4, 4, 4)),
    (re.compile(r"kernel|filter_size|window"), (3, 3, 3, 3)),
    (re.compile(r"stride|dilation|groups|scale|factor|ratio|mult"), (2, 2, 2, 2)),
    (_LAYERS, (2, 2, 2, 2)),
    (_LENGTH, (16, 16, 16, 16)),
    (_FEATURES, (80, 80, 40, EQUAL_SIZE)),
    (_WIDTH, (64, 64, 128, EQUAL_SIZE)),
)
#: The roles of numbers that make a model large.
_SHRINKING = (_HEADS, _LAYERS, _WIDTH)
_FRACTION = re.compile(r"drop|prob|(?:^|_)(?:rate|eps|epsilon|alpha|beta|gamma|momentum|temperature|p)$")
_SETTINGS = re.compile(r"^(?:config|cfg|conf|args|hps|hparams|settings|options)$|_(?:config|cfg)$")
_LAYER = re.compile(
    r"(?:^|_)(?:encoder|decoder|net|network|backbone|module|layer|norm|fn|parent|teacher|act|activation|body|proj)$"
    r"|^(?:base_|sub_)?model$"
)
_LAYER_CLASS = re.compile(r"(?:^|_)(?:block|bottleneck|layer|norm|act|activation)(?:_layer|_cls|_class|_type|_fn)?$")
_PATH = re.compile(r"(?:^|_)(?:path|file|filename|dir|directory|folder|ckpt|checkpoint)$")
#: The path passed for an unknown file.
NO_FILE = "a_file_that_is_not_there"
_DEVICE = re.compile(r"device$")
_LIST = re.compile(r"(?:width|dim|size|scale|stride|kernel|ratio|cardinalitie|dilation|channel_mult)s$")


def is_settings(name: str) -> bool:
    """True if a parameter is named like a configuration."""
    return _SETTINGS.search(name.lower()) is not None


def counts_ids(name: str) -> bool:
    """True if a number is named like a number of ids."""
    return _COUNT.search(name.lower()) is not None


def is_width(name: str) -> bool:
    """True if a number is named like a number of features."""
    lower = name.lower()
    return not counts_ids(lower) and any(pattern.search(lower) for pattern in (_FEATURES, _WIDTH))


def is_length(name: str) -> bool:
    """True if a number is named like a number of positions."""
    return _LENGTH.search(name.lower()) is not None


def is_largest(name: str) -> bool:
    """True if a number is named like a maximum."""
    return _LARGEST.search(name.lower()) is not None


def is_number(name: str) -> bool:
    """True if a parameter is named like a number of any role."""
    lower = name.lower()
    patterns = (_COUNT, _FRACTION, *(pattern for pattern, _ in _NUMBERS))
    return any(pattern.search(lower) for pattern in patterns)


def is_device(name: str) -> bool:
    return _DEVICE.search(name.lower()) is not None


def is_path(name: str) -> bool:
    """True if a parameter is named like a file or a folder."""
    return _PATH.search(name.lower()) is not None


def is_layer(name: str) -> bool:
    return _LAYER.search(name.lower()) is not None


def is_layer_class(name: str) -> bool:
    """True if a parameter that is called is named like a class of layers."""
    return _LAYER_CLASS.search(name.lower()) is not None


def is_list(name: str) -> bool:
    """True if a parameter is named like a list of numbers."""
    return _LIST.search(name.lower()) is not None


@dataclass
class Numbers:
    """Numbers for names; the same name gets the same number. `assumed` has those that were asked for."""

    variant: int = 0
    assumed: dict[str, Any] = field(default_factory=dict)
    _counts: list[str] = field(default_factory=list)

    def number(self, name: str) -> int | float:
        """The small number for a name; it is noted as assumed."""
        if name not in self.assumed:
            self.assumed[name] = self.choose(name)
        number: int | float = self.assumed[name]
        return number

    def choose(self, name: str) -> int | float:
        """The small number for a name, without a note."""
        lower = name.lower()
        if _FRACTION.search(lower):
            # One choice is an integer: an assumed number must not make real numbers of ids.
            return 1 if self.variant == _WHOLE else 0.1
        for pattern, numbers in _NUMBERS:
            if pattern.search(lower) and not _COUNT.search(lower):
                return numbers[self.variant]
        # Counts of ids get numbers in another order in each variant: no comparison of two rests on chance.
        if self.variant == EQUAL:
            return EQUAL_SIZE
        self._counts.append(name)
        return 100 + 7 * len(self._counts) * (0, 1, -1)[self.variant]


@dataclass(frozen=True)
class ParameterUse:
    """The uses of a parameter in a function: it is iterated, called or tested, or its attributes or keys are read."""

    #: Strings that the parameter is compared with.
    words: tuple[str, ...] = ()
    is_iterated: bool = False
    attributes: tuple[str, ...] = ()
    is_called: bool = False
    is_tested: bool = False
    #: True if it is registered as a buffer.
    is_buffer: bool = False
    #: True if it is subscripted with strings.
    is_keyed: bool = False
    #: True if it is used as a tensor: as an operand, or indexed in several dimensions.
    is_computed: bool = False

    @property
    def has_attributes(self) -> bool:
        return bool(self.attributes)


#: Functions that iterate over their argument.
ITERATING = frozenset(("zip", "enumerate", "sum", "reversed", "list", "tuple", "sorted"))


def uses(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ParameterUse:
    """The uses of the parameter `name` in a function."""
    words: list[str] = []
    attributes: list[str] = []
    found: set[str] = set()

    def is_it(node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    for node in ast.walk(function):
        if _is_computation(node) and any(map(is_it, ast.iter_child_nodes(node))):
            found.add("computed")
        if isinstance(node, ast.Subscript) and is_it(node.value) and isinstance(node.slice, ast.Constant):
            found.add("keyed" if isinstance(node.slice.value, str) else "iterated")
        elif isinstance(node, ast.Compare) and is_it(node.left):
            words.extend(c.value for c in node.comparators if isinstance(c, ast.Constant) and isinstance(c.value, str))
        elif (isinstance(node, ast.For | ast.comprehension) and is_it(node.iter)) or (
            isinstance(node, ast.Subscript) and is_it(node.value)
        ):
            found.add("iterated")
        elif isinstance(node, ast.Attribute) and is_it(node.value):
            attributes.append(node.attr)
        elif isinstance(node, ast.Call):
            if is_it(node.func):
                found.add("called")
            elif isinstance(node.func, ast.Name) and node.func.id in ITERATING and any(map(is_it, node.args)):
                found.add("iterated")
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer":
                found.update(("buffer",) if any(map(is_it, node.args[1:2])) else ())
        elif isinstance(node, ast.If | ast.IfExp) and (
            is_it(node.test) or (isinstance(node.test, ast.UnaryOp) and is_it(node.test.operand))
        ):
            found.add("tested")
    return ParameterUse(
        tuple(dict.fromkeys(words)),
        "iterated" in found,
        tuple(dict.fromkeys(attributes)),
        "called" in found,
        "tested" in found,
        "buffer" in found,
        "keyed" in found,
        "computed" in found,
    )


def _is_computation(node: ast.AST) -> bool:
    """True if an expression is one that no list can be an operand of."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow)
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)


def handed_on(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> list[tuple[str, int | str]]:
    """The functions that get the parameter `name` as an argument, by name, each with the position or keyword."""
    found: list[tuple[str, int | str]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
            given += [(keyword.arg or "", keyword.value) for keyword in node.keywords]
            found += [(node.func.id, at) for at, part in given if isinstance(part, ast.Name) and part.id == name]
    return found


def shrunk(name: str) -> int | None:
    """A small number for a setting that only scales a model; None for settings that change its kind."""
    lower = name.lower()
    if _COUNT.search(lower):
        return None
    return next((sizes[0] for pattern, sizes in _NUMBERS if pattern in _SHRINKING and pattern.search(lower)), None)


def is_depth(name: str) -> bool:
    """True if a setting is named like a number of layers in sequence."""
    return _LAYERS.search(name.lower()) is not None


def is_heads(name: str) -> bool:
    """True if a setting is named like a number of attention heads."""
    return _HEADS.search(name.lower()) is not None
