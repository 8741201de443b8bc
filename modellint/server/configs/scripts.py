"""Places of a Python file that are about a configuration: the keys that it reads, and the files that it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.apps import apps, apps_in, search_path
from modellint.dialects.placing import Composed, composition
from modellint.graph.value import Op
from modellint.link.recipes.keys import may_be_keys, text_of
from modellint.link.recipes.pairing import recipes_of, scripts_of
from modellint.server.configs.reads import keys_read
from modellint.server.configs.subjects import FileSubject, KeySubject, file_named
from modellint.server.configs.trees import Composite, Nodes
from modellint.server.configs.wholes import whole_of
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Scalar
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.server.configs.subjects import Subject
    from modellint.source import Place

#: The words of scripts that read configurations.
_WORDS = ("hydra", "hparams", "cfg", "config", "conf")
#: The attribute of a Brain that holds the layers of the recipe's key of that name.
_MODULES = "modules"
#: How many keys lead to one that a script reads of a recipe.
_DEEPEST = 2
_QUOTED = re.compile(r"\"([^\"\\\n]*)\"|'([^'\\\n]*)'")


def subject_in_script(path: Path, line: int, column: int, project: Project) -> Subject | None:
    """The part of a configuration that a place of a Python file, line and column from 1, is about; None if none is."""
    module = project.python(path)
    if module is None or not any(word in module.text for word in _WORDS):
        return None
    text = _quoted_at(module, line, column)
    if text is not None:
        found = _file(module, *text, project)
        if found is not None:
            return found
    return _key(module, line, column, project)


def reads_of(recipe_path: Path, keys: tuple[Scalar, ...], project: Project) -> Iterator[Place]:
    """The places at which scripts read a key of the configuration that a file is a part of."""
    composed = whole_of(recipe_path, project)
    if composed is not None and composed.app.script.suffix == ".py":
        for read in keys_read(composed.app, project):
            if read.keys == keys:
                yield read.place
    recipe = project.recipe(recipe_path) if len(keys) <= _DEEPEST else None
    for script in scripts_of(recipe, project).scripts if recipe is not None else ():
        module = project.python(script)
        if module is not None:
            yield from (module.place(value) for value, name in _reads(module) if name == keys)


def _quoted_at(module: ModuleFacts, line: int, column: int) -> tuple[str, Span] | None:
    """The text in quotes around a place on one line, with its span."""
    lines = module.source.lines
    for match in _QUOTED.finditer(lines[line - 1] if 0 < line <= len(lines) else ""):
        if match.start() < column <= match.end():
            return match[1] or match[2] or "", Span(line, match.start() + 1, line, match.end() + 1)
    return None


def _file(module: ModuleFacts, text: str, span: Span, project: Project) -> FileSubject | None:
    """The file that a text names: a program's configuration, or any file that is there."""
    for app in apps_in(module, project) if "hydra" in module.text else ():
        is_named = any(place.span.line <= span.line <= place.span.end_line for place in app.places)
        if not is_named or app.folder is None:
            continue
        names = [text, app.name] if _is_in(span, app.places[0].span) else [text]
        for name in filter(None, names):
            file = search_path(app, project).file(name, project)
            if file is not None:
                return FileSubject(span, file)
    file = file_named(text, module.file.parent, project)
    return None if file is None else FileSubject(span, file)


def _is_in(span: Span, around: Span) -> bool:
    start, end = (around.line, around.column), (around.end_line, around.end_column)
    return start <= (span.line, span.column) and (span.end_line, span.end_column) <= end


def _key(module: ModuleFacts, line: int, column: int, project: Project) -> KeySubject | None:
    """The key that is read at a place: the innermost expression that ends behind it."""
    return _composed_key(module, line, column, project) or _recipe_key(module, line, column, project)


def _composed_key(module: ModuleFacts, line: int, column: int, project: Project) -> KeySubject | None:
    own = apps_in(module, project)
    found: list[tuple[tuple[int, ...], KeySubject]] = []
    for app in own or apps(project):
        for read in keys_read(app, project):
            span = read.place.span
            if read.place.path == module.path and _holds(span, line, column):
                composed = composition(app, project)
                file = app.script if composed is None else composed.files[0].file
                recipe = None if composed is None else project.omegaconf(file)
                if composed is None or recipe is None:
                    continue
                tree = Composite(recipe, project, Composed(app, composed))
                key = tree.key(read.keys)
                if key is not None:
                    size = (span.end_line - span.line, span.end_column - span.column)
                    found.append((size, KeySubject(span, key)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _recipe_key(module: ModuleFacts, line: int, column: int, project: Project) -> KeySubject | None:
    recipes = recipes_of(module.file, project)
    reads = [(module.span(value), name) for value, name in _reads(module)] if recipes else []
    around = [(span, name) for span, name in reads if _holds(span, line, column)]
    around.sort(key=lambda one: (one[0].end_line - one[0].line, one[0].end_column - one[0].column))
    for span, keys in around:
        for recipe in recipes:
            key = Nodes(recipe, project).key(keys)
            if key is not None:
                return KeySubject(span, key)
    return None


def _reads(module: ModuleFacts) -> Iterator[tuple[Value, tuple[Scalar, ...]]]:
    """The reads of keys of a recipe, `hparams["lr"]` and `self.hparams.lr`, and of layers, `self.modules.encoder`."""
    for function in (*module.all_functions(), module.body):
        seen: set[int] = set()
        for event in function.flow.events:
            for root in (event.value, event.target):
                for value in root.walk() if root is not None else ():
                    if id(value) in seen or not value.args:
                        continue
                    seen.add(id(value))
                    owner = value.args[0]
                    if value.op is Op.INDEX:
                        name = text_of(value.args[1])
                        if name is not None and may_be_keys(owner):
                            yield value, (name,)
                    elif value.op is Op.ATTR and owner.op is Op.ATTR and owner.data == _MODULES:
                        yield value, (_MODULES, str(value.data))
                    elif value.op is Op.ATTR and may_be_keys(owner):
                        yield value, (str(value.data),)


def _holds(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)
