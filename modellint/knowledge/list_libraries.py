"""Writes down what libraries offer that configurations name: `python -m modellint.knowledge.list_libraries PATH...`.

Each PATH is a folder that holds one release of a library unpacked, with its metadata (`PATH/timm`,
`PATH/timm-1.0.31.dist-info`). The releases of one library are described together, in one file; a library of which no
release is given keeps its file. Nothing is imported: `list_modules` reads source.
"""

from __future__ import annotations

import argparse
import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.knowledge import libraries as form
from modellint.knowledge import signatures
from modellint.knowledge.list_modules import Named, Source, methods_of
from modellint.knowledge.list_parameters import Calls, Parameter, is_of_class
from modellint.knowledge.regenerate import release_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.knowledge.list_modules import Module
    from modellint.knowledge.list_parameters import Parameters

#: What one module offers: by name the text of an entry, without the releases that have it.
Rows = dict[str, str]
_MARKS = {"var-positional": ("*", ""), "var-keyword": ("**", ""), "keyword": ("", ":"), "positional": ("", "")}


class Release:
    """One release of a library, as the rows of its modules."""

    def __init__(self, root: Path, library: form.Described) -> None:
        packages = [package for package in library.packages if (root / package).is_dir()]
        self.source = Source(root, *packages)
        self.packages = packages
        self._library = library
        self._calls = Calls(self.source, _outside)
        self._offered = self._find_offered() if library.is_large else None
        self._shown = self._find_shown()

    def _find_offered(self) -> set[str]:
        """The classes and functions that packages offer, or modules in `__all__`."""
        found = set()
        for module in self.source.modules.values():
            names = self.source.names(module) if module.is_package else module.exported or ()
            resolved = (self.source.resolve(module, name) for name in names if not name.startswith("_"))
            found |= {one.full for one in resolved if one is not None}
        return found

    def _find_shown(self) -> set[str]:
        """The classes that those which are described derive from."""
        found = set()
        for module in self.source.modules.values():
            for name in module.definitions:
                named = self.source.resolve(module, name)
                if named is not None and isinstance(named.node, ast.ClassDef) and self._is_offered(named):
                    found |= {one.full for one in self._calls.chain(named)[1:]}
        return found

    def _is_offered(self, named: Named) -> bool:
        return self._offered is None or named.full in self._offered

    def rows(self) -> dict[str, Rows]:
        """The rows of each module, but for those that another library describes."""
        modules = self.source.modules.items()
        patched = {name: {"*": ""} for name in self.source.patched_modules()}
        return patched | {
            name: dict(self._rows(module)) for name, module in modules if self._library.mirrored_name(name) == name
        }

    def attributes(self) -> set[str]:
        """The public names that classes have, but for methods that are called on the class."""
        found = set()
        for module in self.source.modules.values():
            for node in (node for nodes in module.definitions.values() for node in nodes):
                named = Named(module, node)
                if isinstance(node, ast.ClassDef) and (self._is_offered(named) or named.full in self._shown):
                    found |= {method.name for method in methods_of(node) if not is_of_class(method)}
                    found |= {one.id for statement in node.body for one in _assigned_names(statement)}
        return {name for name in found if not name.startswith("_")}

    def _rows(self, module: Module) -> Iterator[tuple[str, str]]:
        if module.may_have_more_names or self.source.has_unread_stars(module):
            yield "*" if module.exported is None else "~", ""
        is_whole = self._offered is None
        yield from ((f"+{star}", "") for star in module.stars if star in self.source.modules and not is_whole)
        for name in sorted(self.source.names(module) if is_whole else module.own_names()):
            named = self.source.resolve(module, name)
            if named is None:
                continue
            is_own = named.module is module and named.full == f"{module.name}.{name}"
            if name.startswith("_") and not (is_own and named.full in self._shown):
                continue
            if (
                self._offered is not None
                and not module.is_package
                and not (is_own and (self._is_offered(named) or named.full in self._shown))
            ):
                yield "~", ""
                continue
            if not is_own:
                yield name, self._alias(named)
            elif isinstance(named.node, ast.ClassDef):
                yield name, f"c|{_text(self._calls.constructor(named))}|{' '.join(self._bases(named))}"
                for member, parameters in self._calls.members(named).items():
                    yield f"{name}.{member}", f"f|{_text(parameters)}"
            else:
                yield name, f"f|{_text(self._calls.of(named))}"

    def _alias(self, named: Named) -> str:
        full = named.full or named.external
        return f"a|{full}" if full.partition(".")[0] in (*self.packages, "torch") and "." in full else "o"

    def _bases(self, named: Named) -> Iterator[str]:
        """The bases of a class; `?` for one that is not known."""
        for one in self._calls.bases(named):
            yield one.full or one.external or "?"


def _assigned_names(statement: ast.stmt) -> Iterator[ast.Name]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets += [statement.target] if isinstance(statement, ast.AnnAssign) else []
    yield from (target for target in targets if isinstance(target, ast.Name))


def _text(parameters: Parameters | None) -> str:
    """The parameters as `catalogue.read_parameters` reads them."""
    return "?" if parameters is None else " ".join(map(_word, parameters))


def _word(parameter: Parameter) -> str:
    before, after = _MARKS[parameter.kind]
    return f"{before}{parameter.name}{after}{'=' * parameter.has_default}"


@cache
def _outside(name: str) -> Parameters | None:
    """The constructor of a class of torch; None if it is not described."""
    public = knowledge.canonical(name)
    if public == "torch.nn.Module":
        return ()
    facts = knowledge.class_facts(public) if public.startswith("torch.") else None
    method = facts.method("__init__") if facts is not None else None
    if method is not None:
        return tuple(Parameter(p.name, p.kind, p.default is not None) for p in method.parameters[1:])
    known = signatures.signature(public) if public.startswith("torch.") else None
    if known is None or known.is_native or len(known.overloads) != 1:
        return None
    return tuple(Parameter(p.name, p.kind, p.default is not None) for p in known.overloads[0].parameters)


# -- several releases -------------------------------------------------------------------------------------------------


class Writer:
    """The file of one library: its releases, the newest first."""

    def __init__(self, releases: dict[str, dict[str, Rows]], attributes: set[str], patched: set[str]) -> None:
        self._releases = releases
        self._patched = patched
        self._attributes = attributes
        self._all = (1 << len(releases)) - 1
        self._merged = self._merge()
        self._signatures = _Table(text for _, text in self._parts(1))
        self._bases = _Table(text for _, text in self._parts(2))
        self._homes = self._find_homes()

    def _merge(self) -> dict[str, dict[str, dict[str, int]]]:
        """By module and name, the entries with the releases that have them, as bits."""
        found: dict[str, dict[str, dict[str, int]]] = {}
        for at, modules in enumerate(self._releases.values()):
            for module, rows in modules.items():
                names = found.setdefault(module, {})
                names.setdefault("", {})
                names[""]["m"] = names[""].get("m", 0) | 1 << at
                for name, entry in rows.items():
                    entries = names.setdefault(name, {})
                    entries[entry] = entries.get(entry, 0) | 1 << at
        return found

    def _parts(self, position: int) -> Iterator[tuple[str, str]]:
        for names in self._merged.values():
            for name, entries in names.items():
                for entry in entries:
                    parts = entry.split("|")
                    if len(parts) > position and parts[0] in ("c", "f")[: 3 - position]:
                        yield name, parts[position]

    def _find_homes(self) -> dict[str, set[str]]:
        """The modules that define a class or function of each name."""
        found: dict[str, set[str]] = {}
        for module, names in self._merged.items():
            for name, entries in names.items():
                if any(entry.startswith(("c|", "f|")) for entry in entries):
                    found.setdefault(name, set()).add(module)
        return found

    def text(self) -> str:
        """The text of the file."""
        head = " ".join(self._releases)
        tables = [
            head,
            " ".join(sorted(self._attributes)) or "-",
            " ".join(sorted(self._patched)) or "-",
            "\n".join(self._signatures.lines),
            "\n".join(self._bases.lines),
        ]
        return "\n\n".join((*tables, "\n".join(self._line(module) for module in sorted(self._merged)))) + "\n"

    def _line(self, module: str) -> str:
        names = self._merged[module]
        mask = names[""]["m"]
        words = [module + _mask(mask, self._all)]
        for name in sorted(names):
            for entry, bits in sorted(names[name].items()) if name else ():
                words.append(self._entry(name, entry) + _mask(bits, mask))
        return " ".join(words)

    def _entry(self, name: str, entry: str) -> str:
        kind, *rest = entry.split("|")
        if kind == "c":
            return f"{name}:{self._signatures.number(rest[0])}:{self._bases.number(rest[1])}"
        if kind == "f":
            return f"{name}/{self._signatures.number(rest[0])}"
        if kind == "a":
            owner, _, last = rest[0].rpartition(".")
            is_plain = last == name and self._homes.get(name) == {owner}
            return f"{name}=" if is_plain else f"{name}={rest[0]}"
        return name


class _Table:
    """Texts by number, the most frequent ones first."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts: dict[str, int] = {}
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
        self.lines = [text or "-" for text in sorted(counts, key=lambda text: (-counts[text], text))]
        self._numbers = {line: at for at, line in enumerate(self.lines)}

    def number(self, text: str) -> int:
        return self._numbers[text or "-"]


def _mask(bits: int, usual: int) -> str:
    return "" if bits == usual else f"@{bits:x}"


def write(library: form.Described, roots: Iterable[Path]) -> str:
    """The text that describes the releases of a library that lie unpacked in folders."""
    found = {release_in(root, library): root for root in roots}
    rows: dict[str, dict[str, Rows]] = {}
    attributes: set[str] = set()
    patched: set[str] = set()
    for release in sorted(found, key=release_order, reverse=True):
        one = Release(found[release], library)
        rows[release] = one.rows()
        attributes |= one.attributes()
        patched |= one.source.patched_names()
    return Writer(rows, attributes, patched).text()


def release_in(root: Path, library: form.Described) -> str:
    """The release of a library in a folder, by its metadata; empty if it lies elsewhere."""
    stem = library.distribution.replace("-", "_")
    names = [path.name for path in root.glob("*.dist-info") if path.name.partition("-")[0].lower() == stem]
    return names[0].partition("-")[2].removesuffix(".dist-info") if names else ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m modellint.knowledge.list_libraries", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders that hold one unpacked release each")
    parser.add_argument("--into", type=Path, default=form.FOLDER)
    options = parser.parse_args(arguments)
    for library in form.LIBRARIES:
        roots = [folder for folder in options.folders if release_in(folder, library)]
        if roots:
            (options.into / library.file).write_text(write(library, roots), encoding="utf-8")


if __name__ == "__main__":
    main()
