"""Configurations without a class: the settings that code reads from them, and the values that they give.

Code reads settings by attributes, by keys, with `get` or `getattr`; its use of a setting tells the kind of value.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import torch

from . import roles

if TYPE_CHECKING:
    from collections.abc import Callable

_SEVERAL = 3
_ACTIVATION = re.compile(r"(?:^|_)(?:act|activation|nonlinearity)(?:_fn|_func|_function|_type|_name)?$|hidden_act")
_FLAG = re.compile(r"^(?:use|is|with|do|enable|has|add|tie|return|output)_|^(?:bias|causal|verbose|debug)$|_bias$")
_TEXT = re.compile(r"(?:^|_)(?:path|file|dir|folder|root|ckpt|checkpoint|url|name|mode|type)$")
_DTYPE = re.compile(r"dtype$")
_MAPPING = frozenset(("items", "keys", "values", "get", "update", "copy"))
_TEXTUAL = frozenset(("lower", "upper", "split", "startswith", "endswith", "strip", "format"))
#: The observed uses of a setting.
_PART, _LIST, _STAGES, _COUNTED, _OPTIONAL, _FLAGGED, _ASKED, _WORD, _CHOOSES, _OF_LAYERS = range(10)


class _Asked:
    """The settings that a file reads from its configurations: from every name like one, and from `root`."""

    def __init__(self, tree: ast.AST, root: str) -> None:
        self._root = root
        #: By setting: its observed uses, the words that it is compared with, and its default in the code.
        self.kinds: dict[str, set[int]] = defaultdict(set)
        self.words: dict[str, list[str]] = defaultdict(list)
        self.defaults: dict[str, Any] = {}
        #: By setting: the number of names that it is unpacked into.
        self.numbers: dict[str, int] = {}
        self._keyed = {
            name
            for node in ast.walk(tree)
            if (name := _name(node.value if isinstance(node, ast.Attribute | ast.Subscript) else None))
            and (isinstance(node, ast.Attribute) or _text(getattr(node, "slice", None)) is not None)
        }
        for node in ast.walk(tree):
            self._look(node)

    def key(self, node: ast.AST | None) -> str | None:
        """The name of the setting that an expression reads; None if it reads none."""
        if isinstance(node, ast.Attribute) and self._holds(node.value):
            return node.attr
        if isinstance(node, ast.Subscript) and self._holds(node.value):
            return _text(node.slice)
        if isinstance(node, ast.Call) and node.args:
            of = node.func
            if isinstance(of, ast.Attribute) and of.attr in ("get", "pop") and self._holds(of.value):
                return _text(node.args[0])
            if _name(of) == "getattr" and len(node.args) > 1 and self._holds(node.args[0]):
                return _text(node.args[1])
        return None

    def _holds(self, node: ast.AST) -> bool:
        """True if an expression is a configuration, or a part of one."""
        name = _name(node) or (node.attr if isinstance(node, ast.Attribute) else "")
        return bool(name and (roles.is_settings(name) or name == self._root)) or self.key(node) is not None

    def _say(self, node: ast.AST | None, kind: int) -> None:
        if (key := self.key(node)) is not None:
            self.kinds[key].add(kind)

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            self._say(node.value, _WORD if node.attr in _TEXTUAL else _PART)
        elif isinstance(node, ast.Subscript):
            self._say(node.value, _PART if _text(node.slice) is not None else _LIST)
            self._say(node.slice, _CHOOSES)
        elif isinstance(node, ast.For | ast.comprehension):
            self._note_iteration(node.iter, node.target)
        elif isinstance(node, ast.Starred):
            self._say(node.value, _LIST)
        elif isinstance(node, ast.keyword) and node.arg is None:
            self._say(node.value, _PART)
        elif isinstance(node, ast.Compare):
            self._note_comparison(node)
        elif isinstance(node, ast.If | ast.IfExp | ast.Assert):
            self._say(node.test, _FLAGGED)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self._say(value, _FLAGGED)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._say(node.operand, _FLAGGED)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            self._say(node.value, _LIST)
            if (key := self.key(node.value)) is not None:
                self.numbers[key] = len(node.targets[0].elts)
        elif isinstance(node, ast.Call):
            self._note_call(node)

    def _note_iteration(self, found: ast.expr, target: ast.expr) -> None:
        """Note the settings that are iterated over, alone or with others."""
        if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr in _MAPPING:
            return
        if isinstance(found, ast.Call) and _name(found.func) in roles.ITERATING:
            if _name(found.func) == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[-1]
            targets = target.elts if isinstance(target, ast.Tuple) and len(found.args) > 1 else [target]
            for part, one in zip(found.args, targets, strict=False):
                self._note_iteration(part, one)
            return
        self._say(found, _STAGES if _name(target) in self._keyed else _LIST)

    def _note_comparison(self, node: ast.Compare) -> None:
        other = node.comparators[0]
        if isinstance(node.ops[0], ast.Is | ast.IsNot) and isinstance(other, ast.Constant) and other.value is None:
            self._say(node.left, _OPTIONAL)
        if (key := self.key(node.left)) is not None:
            choices = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
            self.words[key] += [text for part in choices if (text := _text(part)) is not None]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self._say(other, _LIST)

    def _note_call(self, node: ast.Call) -> None:
        name, given = _name(node.func), node.args
        if name == "len" and given:
            self._say(given[0], _COUNTED)
        elif name in roles.ITERATING:
            for part in given:
                self._say(part, _LIST)
        elif name == "hasattr" and len(given) > 1 and self._holds(given[0]) and (text := _text(given[1])):
            self.kinds[text].add(_ASKED)
        elif name == "getattr" and len(given) > 1:
            self._say(given[1], _OF_LAYERS if ast.unparse(given[0]).rpartition(".")[2] == "nn" else _CHOOSES)
            if len(given) > 2 and (key := self.key(node)) is not None:
                try:
                    self.defaults[key] = ast.literal_eval(given[2])
                except ValueError:
                    self.kinds[key].add(_ASKED)


class Settings(dict[str, Any]):
    """A configuration that no class describes, with attributes and keys: what is not said is chosen by its role.

    `note` is told of what is chosen and is no number.
    """

    def __init__(self, numbers: roles.Numbers, asked: _Asked, device: str, note: Callable[[str, str], None]) -> None:
        super().__init__()
        self._numbers, self._asked, self._device, self._note = numbers, asked, device, note

    def with_values(self, said: dict[str, Any]) -> Settings:
        """The configuration with given values; tables among them become configurations, too."""
        self.update(
            {name: self._part().with_values(part) if isinstance(part, dict) else part for name, part in said.items()}
        )
        return self

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self and name in self._asked.defaults:
            return self._asked.defaults[name]
        if name not in self and _ASKED in self._asked.kinds[name]:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self[name] = value

    def __missing__(self, name: str) -> Any:
        found = self[name] = self._choose(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a key, if it was given, or else the default in the code."""
        return super().get(name, default)

    def __deepcopy__(self, memo: Any) -> Settings:
        made = Settings(self._numbers, self._asked, self._device, self._note)
        made.update(self)
        return made

    def _choose(self, name: str) -> Any:
        kinds, words = self._asked.kinds[name], self._asked.words[name]
        if _OPTIONAL in kinds:
            return None
        if _PART in kinds:
            return self._part()
        if _STAGES in kinds:
            return [self._part(), self._part()]
        if kinds & {_LIST, _COUNTED}:
            number = self._numbers.number(name)
            is_counted = _COUNTED in kinds and _LIST not in kinds
            return list(range(int(number))) if is_counted else [number] * self._asked.numbers.get(name, _SEVERAL)
        if roles.is_device(name):
            return torch.device(self._device)
        found = self._word_or_flag(name, kinds, words)
        if found is None:
            return self._numbers.number(name)
        self._note(name, repr(found))
        return found

    def _word_or_flag(self, name: str, kinds: set[int], words: list[str]) -> Any:
        """A word or a flag, if the setting's uses or its name ask for one; None otherwise."""
        if words:
            return words[0]
        if _DTYPE.search(name):
            return "float32" if kinds & {_CHOOSES, _WORD} else torch.float32
        if _ACTIVATION.search(name):
            return "ReLU" if _OF_LAYERS in kinds else "relu"
        if _FLAGGED in kinds or _FLAG.search(name):
            return _FLAGGED in kinds and self._numbers.variant == roles.EQUAL
        return "nothing" if _WORD in kinds or _TEXT.search(name) else None

    def _part(self) -> Settings:
        return Settings(self._numbers, self._asked, self._device, self._note)


def settings_read_by(tree: ast.AST, root: str) -> _Asked:
    """The settings that a file reads from its configurations and from `root`."""
    return _Asked(tree, root)


def keys_of(tree: ast.AST, name: str) -> list[str]:
    """The string keys that are read from the name `name` by subscripts."""
    found = [
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and _name(node.value) == name and (text := _text(node.slice)) is not None
    ]
    return list(dict.fromkeys(found))


def _name(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
