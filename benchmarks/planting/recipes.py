"""Mistakes in recipes and in the scripts that load them (ML201 to ML210, ML401 to ML406).

What is planted is a mistake by what the files say, read without modellint (`checkout.py`): a use that a training
certainly comes by and that fails, a layer whose constructor makes parameters and that no other entry holds, a class or
an argument that is not in the source of the checkout. Where HyperPyYAML itself must refuse what is planted
(`is_refused`), the harness has it do so.
"""

from __future__ import annotations

import ast
import random
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import yaml

from planting.checkout import (
    TEST,
    Checkout,
    Recipe,
    Script,
    Use,
    children,
    entries,
    is_flow,
    is_reference,
    loads_names,
    made,
    read_recipe,
    read_script,
)
from planting.source import ALWAYS_STATEFUL, CONTINUOUS, NORMS, Edit, Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from yaml.nodes import Node

_CALLED = ("!new:", "!name:", "!apply:")
#: `GELU` is left out: `GLU` is another one.
_TORCH = (ALWAYS_STATEFUL | NORMS | CONTINUOUS) - {"GELU"}
#: Names that an object such as `self.modules` answers to anyway.
_METHODS = frozenset("keys values items train eval training to".split())


@dataclass(frozen=True)
class Planted:
    """One mistake: edits (by characters) of one file of a training, and where a finding of one of `codes` is due.

    `due` are lines of the mutated files. `what` tells the mistake from others of its kind: that another training has
    the same one is nothing new.
    """

    path: Path
    edits: tuple[Edit, ...]
    codes: tuple[str, ...]
    due: tuple[tuple[Path, int], ...]
    what: str
    is_refused: bool = False

    def applied(self, text: str) -> str:
        """The file's text with the mistake."""
        for edit in sorted(self.edits, key=lambda edit: edit.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text


@dataclass(eq=False)
class Training:
    """A recipe, and its script if that is of the simple kind."""

    checkout: Checkout
    recipe: Recipe
    script: Script | None
    folder: Path

    @cached_property
    def modules(self) -> dict[str, tuple[Node, Node]]:
        return self.recipe.mapping("modules")

    @cached_property
    def uses(self) -> list[Use]:
        uses = [] if self.script is None else self.script.uses(self.recipe, self.modules)
        return [use for use in uses if use.holder == "modules" or not self.is_stored(use.name)]

    def is_stored(self, name: str | None) -> bool:
        """Whether the script sets a key of the recipe itself."""
        return self.script is not None and name in self.script.stored

    def entry_of(self, node: Node) -> list[str]:
        """The entries of `modules` that are this very object."""
        return [name for name, (_, value) in self.modules.items() if self.recipe.follow(value) is node]

    def key_of(self, node: Node | None) -> str | None:
        """The top-level key under which something is written."""
        return next((name for name, (_, value) in self.recipe.keys.items() if value is node), None)

    def learns(self, node: Node) -> bool:
        """Whether a training certainly changes parameters of a layer.

        The layer makes some and freezes none, an entry of `modules` is called where gradients flow, and no line of the
        script speaks of its name and of gradients or freezing.
        """
        assert self.script is not None
        names = self.entry_of(node)
        if self.is_stored(self.key_of(node)):
            return False
        if not self.checkout.learns(self.recipe, node, self.folder) or self.freezes([*names, self.key_of(node) or ""]):
            return False
        return any(use.holder == "modules" and use.name in names and use.calls and use.learns for use in self.uses)

    def freezes(self, names: Iterable[str]) -> bool:
        assert self.script is not None
        lines = (line for line in self.script.text.splitlines() if re.search(r"requires_grad|freeze|frozen", line))
        wanted = re.compile(r"\b(?:" + "|".join(re.escape(name) for name in names if name) + r"|modules)\b")
        return any(wanted.search(line) for line in lines)

    @cached_property
    def optimised(self) -> str:
        """The code that gives parameters to optimizers, the Brain's own or the framework's; empty if it is unclear."""
        assert self.script is not None
        own = self.script.brain.methods.get("init_optimizers")
        if own is None:
            return "self.modules.parameters()" if re.search(r"opt_class=hparams\[", self.script.text) else ""
        return self.script.source.text(own)

    @cached_property
    def recoverables(self) -> dict[str, tuple[Node, Node]]:
        """What the checkpointer of the recipe saves, if the Brain is given it and the script adds no layers to it."""
        checkpointer = self.recipe.keys.get("checkpointer")
        if checkpointer is None or self.script is None or not made(checkpointer[1]).endswith(".Checkpointer"):
            return {}
        is_given = 'checkpointer=hparams["checkpointer"]' in self.script.text
        adds = re.search(r"add_recoverables?\([^)]*(?:modules|hparams)|state_dict\(\)", self.script.text)
        value = dict(entries(checkpointer[1])).get("recoverables")
        if not is_given or adds or value is None or is_flow(value[1]):
            return {}
        return dict(entries(value[1]))

    def line_of(self, node: Node) -> int:
        return node.start_mark.line + 1

    def key_line(self, node: Node) -> list[int]:
        """The line of the top-level key that something is written under."""
        name = self.key_of(node)
        return [] if name is None else [self.line_of(self.recipe.keys[name][0])]

    def without_line(self, key: Node, value: Node) -> Edit | None:
        """An entry taken out with its line, if it has one of its own."""
        if key.start_mark.line != value.end_mark.line:
            return None
        return Edit(*self.recipe.line(key.start_mark.line), "")

    def due(self, lines: Iterable[int], edit: Edit) -> tuple[tuple[Path, int], ...]:
        """Lines of the recipe once something is taken out of it."""
        removed = self.recipe.text[edit.start : edit.end].count("\n")
        at = self.recipe.text.count("\n", 0, edit.start) + 1
        return tuple((self.recipe.path, line - removed if line > at else line) for line in sorted(lines))


#: The kinds of mistakes, by name.
OPERATORS: dict[str, Callable[[Training], Iterator[Planted]]] = {}


def _operator(plant: Callable[[Training], Iterator[Planted]]) -> Callable[[Training], Iterator[Planted]]:
    OPERATORS[plant.__name__.replace("_", "-")] = plant
    return plant


def read_training(checkout: Checkout, recipe: Path, script: Path) -> Training | None:
    """A recipe with its script, None if nothing is planted there."""
    read = read_recipe(recipe)
    return None if read is None else Training(checkout, read, read_script(script, checkout), script.parent)


def misspelt(word: str, seed: str) -> str:
    """A word with one inner letter lost, doubled or swapped with the next, as fingers do it."""
    generator = random.Random(seed)
    ways = []
    for at in range(1, len(word) - 1):
        ways += [word[:at] + word[at + 1 :], word[: at + 1] + word[at:]]
        if at < len(word) - 2:
            ways.append(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    found = sorted({way for way in ways if way != word and len(way) > 2}) or [word + word[-1]]
    return generator.choice(found)


# -- what is moved -----------------------------------------------------------------------------------------------------


@_operator
def entry_removed_from_modules(training: Training) -> Iterator[Planted]:
    """An entry of `modules` goes.

    Either the script uses `self.modules.entry` on a way that is certainly taken without the entry. Or it never speaks
    of the entry, but certainly calls an object that holds the layer; the layer makes parameters, no other entry reaches
    it, and neither the script nor the classes around it move anything.
    """
    script, recipe = training.script, training.recipe
    if script is None or len(training.modules) < 2:
        return
    for name, (key, value) in training.modules.items():
        layer, edit = recipe.follow(value), training.without_line(key, value)
        if layer is None or edit is None or not is_reference(value) or training.is_stored(training.key_of(layer)):
            continue
        left = [other for other in training.modules if other != name]
        uses = script.uses(recipe, left)
        lines = {use.node.lineno for use in uses if use.holder == "modules" and use.name == name}
        due = training.due(training.key_line(layer), edit)
        what = f"{script.path.as_posix()} {name}"
        if lines:
            at_uses = tuple((script.path, line) for line in sorted(lines))
            yield Planted(recipe.path, (edit,), ("ML202", "ML201"), (*at_uses, *due), what)
        elif due and not re.search(rf"\b{name}\b", script.text) and _stays(training, name, layer, uses):
            yield Planted(recipe.path, (edit,), ("ML201",), due, what)


def _stays(training: Training, name: str, layer: Node, uses: list[Use]) -> bool:
    """Whether a layer is used and nothing moves it once its entry is gone."""
    recipe, checkout, script = training.recipe, training.checkout, training.script
    assert script is not None
    if not checkout.builds_parameters(made(layer), training.folder) or re.search(r"\.(?:to|cuda)\(", script.text):
        return False
    others = (value for other, (_, value) in training.modules.items() if other != name)
    if any(id(layer) in recipe.reach(other) for other in others):
        return False
    for use in uses:
        called = recipe.keys.get(use.name) if use.holder == "hparams" and use.calls else None
        reached = recipe.reach(called[1]) if called is not None else set()
        if id(layer) in reached:
            owners = [node for node in recipe.nodes() if id(node) in reached and made(node)]
            classes = [pair for node in owners for pair in checkout.lineage(made(node), training.folder)]
            return not any(re.search(r"\.(?:to|cuda)\(", source.text(cls)) for source, cls in classes)
    return False


# -- what is trained and saved -----------------------------------------------------------------------------------------


@_operator
def element_removed_from_module_list(training: Training) -> Iterator[Planted]:
    """A layer is taken out of a `torch.nn.ModuleList` that the checkpointer saves, or whose parameters are optimised.

    The layer learns, and nothing else that is saved holds it (or nothing else that is optimised).
    """
    recipe, script = training.recipe, training.script
    if script is None:
        return
    for name, (_, value) in recipe.keys.items():
        if made(value) != "torch.nn.ModuleList":
            continue
        elements = [(part, value) for part in children(value) if is_reference(part)]
        elements += [(part, row) for row in children(value) for part in children(row) if is_reference(part)]
        for element, owner in elements:
            layer = recipe.follow(element)
            edit = _without_element(recipe, element, owner)
            if layer is None or edit is None or len(elements) < 2 or not training.learns(layer):
                continue
            text = training.optimised
            trains_list = f"hparams.{name}.parameters()" in text
            is_lost = _holds_otherwise(training, layer, element) is False
            is_only_list = text.count(".parameters()") == 1 and id(layer) not in recipe.reach(value, without=element)
            due = training.due(training.key_line(layer), edit)
            what = f"{script.path.as_posix()} {element.value}"
            is_trained = trains_list or "self.modules.parameters()" in text
            if due and ((is_lost and is_trained) or (trains_list and is_only_list)):
                yield Planted(recipe.path, (edit,), ("ML203", "ML209"), due, what)


def _holds_otherwise(training: Training, layer: Node, element: Node) -> bool | None:
    """Whether a recoverable holds a layer without the one element; None if none held it before."""
    recipe = training.recipe
    saved = [value for _, value in training.recoverables.values()]
    if not any(id(layer) in recipe.reach(value) for value in saved):
        return None
    return any(id(layer) in recipe.reach(value, without=element) for value in saved)


def _without_element(recipe: Recipe, element: Node, owner: Node) -> Edit | None:
    """An element taken out of a list, with the comma or the line that it leaves."""
    start, end = recipe.start(element), recipe.end(element)
    if not is_flow(owner):
        line = recipe.line(element.start_mark.line)
        alone = recipe.text[line[0] : start].strip() == "-" and element.end_mark.line == element.start_mark.line
        return Edit(*line, "") if alone and len(owner.value) > 1 else None
    behind = re.compile(r"\s*,[ ]*").match(recipe.text, end)
    if behind is not None:
        return Edit(start, behind.end(), "")
    before = re.search(r",\s*$", recipe.text[:start])
    return Edit(before.start(), end, "") if before is not None else None


@_operator
def entry_removed_from_recoverables(training: Training) -> Iterator[Planted]:
    """An entry of `recoverables` goes: layers that learn, or an object with a saver that the training changes.

    Nothing else that is saved holds it. Objects change when the training certainly calls them and calling assigns their
    attributes, or when `fit` counts epochs with them.
    """
    recipe, script = training.recipe, training.script
    for name, (key, value) in training.recoverables.items():
        thing, edit = recipe.follow(value), training.without_line(key, value)
        if script is None or thing is None or edit is None or len(training.recoverables) < 2 or not is_reference(value):
            continue
        parts = [recipe.follow(part) for row in (thing, *children(thing)) for part in children(row)]
        kept = [other for label, (_, other) in training.recoverables.items() if label != name]
        layers = [
            part
            for part in (thing, *parts)
            if part is not None and training.learns(part) and not any(id(part) in recipe.reach(one) for one in kept)
        ]
        changed = _changes(training, thing) and not any(id(thing) in recipe.reach(one) for one in kept)
        lines = {line for part in (thing, *layers) for line in training.key_line(part)}
        due = training.due(lines, edit)
        what = f"{script.path.as_posix()} {training.key_of(thing)}"
        text = training.optimised
        is_trained = "self.modules.parameters()" in text or f"hparams.{training.key_of(thing)}.parameters()" in text
        if due and ((layers and is_trained) or changed):
            yield Planted(recipe.path, (edit,), ("ML203", "ML210"), due, what)


def _changes(training: Training, thing: Node) -> bool:
    """Whether a training changes what the saver of an object saves."""
    checkout, script = training.checkout, training.script
    assert script is not None
    names = [name for name, (_, value) in training.recipe.keys.items() if training.recipe.follow(value) is thing]
    entries_ = training.entry_of(thing)
    if not made(thing) or not checkout.has_saver(made(thing), training.folder):
        return False
    if any(re.search(rf"\.fit\(\s*(?:\w+\.)?hparams(?:\.{name}\b|\[\"{name}\"\])", script.text) for name in names):
        return True
    if not checkout.changes_when_called(made(thing), training.folder):
        return False
    return any(
        use.calls and use.stage != TEST and use.name in (names if use.holder == "hparams" else entries_)
        for use in training.uses
    )


# -- self.modules and self.hparams -------------------------------------------------------------------------------------


@_operator
def modules_made_hparams(training: Training) -> Iterator[Planted]:
    """Every call of `self.modules.x` becomes one of `self.hparams.x`.

    With a key `x` that is the same layer, which learns, is held by no other entry and asked for in no other way, in a
    script that sets up DDP: its gradients are not synchronised. Without such a key: there is no such hyperparameter.
    """
    recipe, script = training.recipe, training.script
    if script is None:
        return
    for name, (_, value) in training.modules.items():
        layer = recipe.follow(value)
        uses = [use for use in training.uses if use.holder == "modules" and use.name == name and use.calls]
        mentions = _mentions(script, name)
        called = [node for node in mentions if _is_called(script, node)]
        edits = tuple(Edit(*_span(script, node), f"self.hparams.{name}") for node in called)
        what = f"{script.path.as_posix()} {name}"
        if name not in recipe.keys and uses:
            due = tuple((script.path, line) for line in sorted({use.node.lineno for use in uses}))
            yield Planted(script.path, edits, ("ML405",), due, what)
        elif name in recipe.keys and layer is recipe.follow(recipe.keys[name][1]) and layer is not None:
            others = (other for label, (_, other) in training.modules.items() if label != name)
            is_alone = not any(id(layer) in recipe.reach(other) for other in others)
            due = tuple((script.path, line) for line in sorted({use.node.lineno for use in uses if use.learns}))
            asked = len(mentions) == len(called) and not re.search(rf"modules\[\"{name}\"\]", script.text)
            if due and is_alone and asked and "ddp_init_group(" in script.text and training.learns(layer):
                yield Planted(script.path, edits, ("ML208",), due, what)


def _mentions(script: Script, name: str) -> list[ast.Attribute]:
    """`self.modules.name`, wherever it is not only asked for an attribute."""
    found = []
    for node in ast.walk(script.source.tree):
        if isinstance(node, ast.Attribute) and script.source.text(node) == f"self.modules.{name}":
            parent = script.source.parents[node]
            if not isinstance(parent, ast.Attribute):
                found.append(node)
    return found


def _is_called(script: Script, node: ast.Attribute) -> bool:
    parent = script.source.parents[node]
    return isinstance(parent, ast.Call) and parent.func is node


def _span(script: Script, node: ast.expr) -> tuple[int, int]:
    """Where an expression stands, in characters."""
    data = script.source.data
    return len(data[: script.source.start(node)].decode()), len(data[: script.source.end(node)].decode())


@_operator
def hparams_made_modules(training: Training) -> Iterator[Planted]:
    """`self.hparams.x`, on a way that is certainly taken, becomes `self.modules.x`, which is no entry of `modules`."""
    script = training.script
    if script is None or not training.modules:
        return
    seen = set()
    for use in training.uses:
        if use.holder == "hparams" and use.name in training.recipe.keys and use.node not in seen:
            seen.add(use.node)
            if use.name not in training.modules and use.name not in _METHODS:
                edit = Edit(*_span(script, use.node), f"self.modules.{use.name}")
                line = script.source.data[: script.source.start(use.node)].count(b"\n") + 1
                what = f"{script.path.as_posix()} {use.name} {line}"
                yield Planted(script.path, (edit,), ("ML202",), ((script.path, line),), what)


# -- references and keys -----------------------------------------------------------------------------------------------


@_operator
def reference_misspelt(training: Training) -> Iterator[Planted]:
    """`<key>` becomes one that no key of the recipe has. HyperPyYAML refuses it."""
    recipe = training.recipe
    for node in recipe.nodes():
        if not is_reference(node) or node.start_mark.line != node.end_mark.line:
            continue
        start = recipe.start(node)
        for match in re.finditer(r"<(\w+)[\[>]", recipe.source(node)):
            wrong = misspelt(match[1], f"{recipe.path.name} {start} {match.start()}")
            if wrong not in recipe.keys:
                edit = Edit(start + match.start(1), start + match.end(1), wrong)
                due = ((recipe.path, training.line_of(node)),)
                yield Planted(recipe.path, (edit,), ("ML401",), due, match[1], is_refused=True)


@_operator
def key_misspelt(training: Training) -> Iterator[Planted]:
    """A top-level key becomes another one, while `<key>` (HyperPyYAML refuses it) or the script still ask for it.

    The script does on a way that is certainly taken.
    """
    recipe = training.recipe
    for name, (key, _) in recipe.keys.items():
        wrong = misspelt(name, f"{recipe.path.name} {name}")
        if wrong in recipe.keys or name.startswith("__"):
            continue
        references = [node for node in recipe.nodes() if is_reference(node) and re.search(rf"<{name}[\[>]", node.value)]
        due = [(recipe.path, training.line_of(node)) for node in references] or list(_asked(training, name))
        if due:
            edit = Edit(recipe.start(key), recipe.end(key), wrong)
            code = "ML401" if references else "ML405"
            yield Planted(recipe.path, (edit,), (code,), tuple(due), name, is_refused=bool(references))


def _asked(training: Training, name: str) -> Iterator[tuple[Path, int]]:
    """The lines of the script that certainly ask for a key once it is gone."""
    script = training.script
    if script is None or training.is_stored(name):
        return
    uses = script.uses(training.recipe, training.modules, lacking=name)
    lines = {use.node.lineno for use in uses if use.holder == "hparams" and use.name == name}
    lines |= {node.lineno for asked, node in loads_names(script) if asked == name}
    yield from ((script.path, line) for line in sorted(lines))


@_operator
def key_doubled(training: Training) -> Iterator[Planted]:
    """An entry on a line of its own stands twice. HyperPyYAML refuses it."""
    recipe = training.recipe
    for node in recipe.nodes():
        if not isinstance(node, yaml.MappingNode) or is_flow(node):
            continue
        for key, value in node.value:
            line = key.start_mark.line
            if not isinstance(value, yaml.ScalarNode) or value.end_mark.line != line or value.value == "":
                continue
            start, end = recipe.line(line)
            text = recipe.text[start:end]
            edit = Edit(end, end, text if text.endswith("\n") else "\n" + text)
            yield Planted(recipe.path, (edit,), ("ML404",), ((recipe.path, line + 2),), key.value, is_refused=True)


@_operator
def tag_misspelt(training: Training) -> Iterator[Planted]:
    """`!new:`, `!name:`, `!apply:`, `!ref` or `!copy` becomes a tag that nothing constructs. HyperPyYAML refuses it."""
    recipe = training.recipe
    for node in recipe.nodes():
        match = re.fullmatch(r"!(new|name|apply|ref|copy)(?::.*)?", node.tag)
        if match is not None and recipe.text.startswith(node.tag, recipe.start(node)):
            start = recipe.start(node) + 1
            wrong = misspelt(match[1], f"{recipe.path.name} {start}")
            edit = Edit(start, start + len(match[1]), wrong)
            due = ((recipe.path, training.line_of(node)),)
            yield Planted(recipe.path, (edit,), ("ML406",), due, f"{node.tag} {wrong}", is_refused=True)


# -- classes and arguments ---------------------------------------------------------------------------------------------


@_operator
def class_path_misspelt(training: Training) -> Iterator[Planted]:
    """A part of the name behind `!new:`, `!name:` or `!apply:` is misspelt.

    The name is that of a class or function in a file of the checkout, or of a layer of torch. With the mistake there is
    no such file, or the word does not occur in it; the layers of torch are those whose names no slip makes another's.
    """
    recipe, checkout = training.recipe, training.checkout
    for node in recipe.nodes():
        dotted = made(node, *_CALLED)
        is_torch = dotted.startswith("torch.nn.") and dotted.rpartition(".")[2] in _TORCH
        found = checkout.locate(dotted, training.folder) if dotted else None
        if not is_torch and found is None:
            continue
        parts = dotted.split(".")
        seed = f"{recipe.path.name} {recipe.start(node)}"
        at = random.Random(seed).randrange(len(parts))
        wrong = misspelt(parts[at], seed)
        other = ".".join([*parts[:at], wrong, *parts[at + 1 :]])
        if found is not None and at == len(parts) - 1:
            text = found[0].data.decode()
            exists = re.search(rf"\b{wrong}\b|import \*|__getattr__", text) is not None
        else:
            folders = [base.joinpath(*parts[:at], wrong) for base in (training.folder, checkout.root)]
            exists = any(path.exists() or path.with_suffix(".py").exists() for path in folders)
        start = recipe.text.find(dotted, recipe.start(node))
        if not exists and start >= 0:
            edit = Edit(start, start + len(dotted), other)
            due = ((recipe.path, training.line_of(node)),)
            yield Planted(recipe.path, (edit,), ("ML402",), due, f"{dotted} {at}")


@_operator
def argument_misspelt(training: Training) -> Iterator[Planted]:
    """An argument of a class or function of the checkout gets a name that its signature does not have.

    The class has a constructor of its own, neither is decorated, and there is no `**kwargs`.
    """
    recipe = training.recipe
    for node in recipe.nodes():
        dotted = made(node, *_CALLED)
        names = _parameters(training, dotted) if dotted else None
        if names is None or not isinstance(node, yaml.MappingNode):
            continue
        for key, _ in node.value:
            wrong = misspelt(str(key.value), f"{recipe.path.name} {recipe.start(key)}")
            if key.value in names and wrong not in names and wrong not in dict(entries(node)):
                edit = Edit(recipe.start(key), recipe.end(key), wrong)
                due = ((recipe.path, training.line_of(key)),)
                yield Planted(recipe.path, (edit,), ("ML403",), due, f"{dotted} {key.value}")


def _parameters(training: Training, dotted: str) -> set[str] | None:
    """The parameters that a call takes, None if they are not certain."""
    found = training.checkout.locate(dotted, training.folder)
    node = None if found is None else found[1]
    if isinstance(node, ast.ClassDef):
        if node.decorator_list or node.keywords:
            return None
        node = next((one for one in node.body if isinstance(one, Function) and one.name == "__init__"), None)
    if not isinstance(node, Function) or node.decorator_list or node.args.kwarg is not None:
        return None
    arguments = node.args
    return {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}
