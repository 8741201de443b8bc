"""The modules, classes and functions of the libraries that configurations name, by release.

One text file for each library, beside this one, which `python -m modellint.knowledge.list_libraries` writes from the
source of its releases. It is read when somebody asks for a name of the library, and of its lines only those that are
asked for. Its parts, with an empty line between them:

    releases      the newest first; below, they are bits of hexadecimal numbers, the newest the lowest
    attributes    what classes have besides methods that are called on the class
    parameters    one line for each way in which something is called, as `catalogue.write_parameters` writes it; "?" for
                  what is not known, "-" for nothing
    bases         one line for each list of the classes that one derives from, "?" for those that are not known
    modules       one line each: its name, and what it offers

        Name:3:5            a class, with the numbers of its parameters and of its bases
        name/3              a function; `Class.name/3` a method that is called on the class
        Name=               a class or function that another module defines, the only one of this name
        Name=lib.mod.Name   one of several, or of another library
        name                anything else
        *                   it may have more names
        …@1f                in these releases only

Begin with `find`.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.graph.value import Parameter

FOLDER = Path(__file__).parent
#: How many modules may pass a name on.
_MAX_HOPS = 8
_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Described:
    """A library that is described: the name that requirements have, its packages, and modules that stand for others."""

    distribution: str
    packages: tuple[str, ...]
    #: Packages with the same modules as others have, which another library describes.
    mirrors: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        return f"library_{self.distribution.replace('-', '_')}.txt"

    def mirrored_name(self, name: str) -> str:
        """The name by which the facts describe what is called `name`."""
        for own, other in self.mirrors:
            if name == own or name.startswith(f"{own}."):
                return other + name[len(own) :]
        return name


#: Lightning has the same modules under two names: PyTorch Lightning's own, and those inside of `lightning`.
LIBRARIES = (
    Described("hydra-core", ("hydra",)),
    Described(
        "lightning",
        ("lightning",),
        (("lightning.pytorch", "pytorch_lightning"), ("lightning.fabric", "lightning_fabric")),
    ),
    Described("mmengine", ("mmengine",)),
    Described("omegaconf", ("omegaconf",)),
    Described("pytorch-lightning", ("pytorch_lightning", "lightning_fabric")),
    Described("timm", ("timm",)),
    Described("torchmetrics", ("torchmetrics",)),
    Described("torchtune", ("torchtune",)),
    Described("torchvision", ("torchvision",)),
    Described("transformers", ("transformers",)),
)
_BY_PACKAGE = {package: library for library in LIBRARIES for package in library.packages}
_loaded: dict[str, Library] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """The definition that a name stands for, in those releases that were asked for and have it.

    `kind` is "class", "function", "module" or "value", `name` the full name where it is defined. `signatures` are the
    parameters with which it is called, the receiver left out, one for each way in which the releases differ; none if
    they are not known. `bases` are the full names of all classes that a class derives from, None if not all are known.
    """

    kind: str
    name: str
    signatures: tuple[tuple[Parameter, ...], ...] = ()
    bases: frozenset[str] | None = None
    releases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Absent:
    """The part `missing` of a name, which the module or class `owner` has in none of the releases asked for.

    `available` are the names that are there, `others` the releases that have it, and `moved` the full name under which
    the releases have what is called so elsewhere. Not `is_sure`: it may be there at run time.
    """

    owner: str
    missing: str
    available: frozenset[str]
    releases: tuple[str, ...]
    others: tuple[str, ...] = ()
    moved: str = ""
    is_sure: bool = True


def library_of(name: str) -> Described | None:
    """The library that describes a dotted name; None if none does."""
    return _BY_PACKAGE.get(name.partition(".")[0])


def library(distribution: str) -> Library:
    """The facts of a library, read when they are first needed."""
    found = _loaded.get(distribution)
    if found is None:
        known = next(one for one in LIBRARIES if one.distribution == distribution)
        text = (FOLDER / known.file).read_text(encoding="utf-8")
        found = _loaded[distribution] = Library(known, text)
    return found


def find(name: str, releases: Collection[str] | None = None) -> Found | Absent | None:
    """The definition of a full name in some releases of its library, or in all that are described.

    None if the name is of no described library, or if it is not known whether it is there.
    """
    home = library_of(name)
    return None if home is None else library(home.distribution).find(name, releases)


def derives(name: str, base: str, releases: Collection[str] | None = None) -> bool | None:
    """True if the class called `name` is, or derives from, the class called `base`; None if that is not known."""
    found, wanted = find(name, releases), find(base, releases)
    if not isinstance(found, Found) or found.kind != "class":
        return None
    full = wanted.name if isinstance(wanted, Found) else base
    if found.name == full or (found.bases is not None and full in found.bases):
        return True
    return None if found.bases is None else False


class Library:
    """The facts of one library."""

    def __init__(self, known: Described, text: str) -> None:
        self.known = known
        releases, self._attributes, self._signatures, self._bases, modules = text.split("\n\n")
        self.releases = tuple(releases.split())
        self._modules = f"\n{modules}"
        self._rows: dict[str, _Row | None] = {}

    @cached_property
    def _signature_lines(self) -> list[str]:
        return self._signatures.split("\n")

    @cached_property
    def _base_lines(self) -> list[str]:
        return self._bases.split("\n")

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names that classes have besides methods that are called on the class."""
        return frozenset(self._attributes.split())

    def bits(self, releases: Collection[str] | None) -> int:
        """The releases as bits; all of them for None."""
        return sum(1 << at for at, release in enumerate(self.releases) if releases is None or release in releases)

    def _releases_in(self, bits: int) -> tuple[str, ...]:
        return tuple(release for at, release in enumerate(self.releases) if bits >> at & 1)

    def find(self, name: str, releases: Collection[str] | None = None) -> Found | Absent | None:
        """The definition of a full name in some releases, or in all; None if it is not known whether it is there."""
        return self._find(name, self.bits(releases), 0)

    def _find(self, name: str, bits: int, hops: int) -> Found | Absent | None:
        elsewhere = self.known.mirrored_name(name)
        if elsewhere != name:
            return self._find_elsewhere(name, elsewhere, bits, hops)
        parts = name.split(".")
        depth = next((n for n in range(len(parts), 0, -1) if self._has_module(".".join(parts[:n]), bits)), 0)
        row = self._row(".".join(parts[:depth])) if depth else None
        if row is None or hops > _MAX_HOPS or any(part.startswith("_") for part in parts[depth:]):
            return None
        if depth == len(parts):
            return Found("module", name, releases=self._releases_in(row.bits & bits))
        here = bits & row.bits
        entries = row.entries(parts[depth], here)
        if not entries:
            return None if row.is_open(here) else self._absent(row, parts, depth, bits)
        if depth + 2 < len(parts):
            return None
        answers = [self._entry(row, name, entry, hops) for entry in sorted(entries, key=_newest)]
        if depth + 1 < len(parts):
            return self._member(answers, parts[-1], here)
        return _join(answers)

    def _has_module(self, name: str, bits: int) -> bool:
        row = self._row(name)
        return row is not None and row.bits & bits != 0

    def _find_elsewhere(self, name: str, elsewhere: str, bits: int, hops: int) -> Found | Absent | None:
        """The answer of the library that describes the same modules under another name."""
        home = library_of(elsewhere)
        assert home is not None
        other = library(home.distribution)
        found = other._find(elsewhere, other.bits(self._releases_in(bits)), hops + 1)
        if not isinstance(found, Absent):
            return found
        own, of = next(pair for pair in self.known.mirrors if elsewhere.startswith(pair[1]))
        owner, moved = (own + one[len(of) :] if one.startswith(of) else one for one in (found.owner, found.moved))
        return Absent(owner, found.missing, found.available, found.releases, found.others, moved, found.is_sure)

    def _entry(self, row: _Row, name: str, entry: _Entry, hops: int) -> Found | Absent | None:
        """The definition that an entry of a module stands for."""
        releases = self._releases_in(entry.bits)
        full = f"{row.name}.{entry.name}"
        if entry.kind == ":":
            numbers = entry.rest.split(":")
            bases = self._base_lines[int(numbers[1])]
            known = None if _UNKNOWN in bases.split() else frozenset(bases.split()) - {"-"}
            return Found("class", full, self._parameters(numbers[0]), known, releases)
        if entry.kind == "/":
            return Found("function", full, self._parameters(entry.rest), None, releases)
        if entry.kind == "":
            return Found("value", full, releases=releases)
        target = entry.rest or self._home(entry.name)
        home = library_of(target) if target else None
        if home is None:
            return None
        other = library(home.distribution)
        bits = entry.bits if other is self else other.bits(releases)
        found = other._find(target, bits, hops + 1)
        return found if isinstance(found, Found) else None

    def _home(self, name: str) -> str:
        """The full name of the only class or function of a name."""
        match = re.search(rf"\n(?:[^\n]* )?{re.escape(name)}[:/]", self._modules)
        return f"{self._modules[match.start() + 1 :].partition(' ')[0].partition('@')[0]}.{name}" if match else ""

    def _parameters(self, number: str) -> tuple[tuple[Parameter, ...], ...]:
        from modellint.knowledge.catalogue import read_parameters

        text = self._signature_lines[int(number)]
        return () if text == _UNKNOWN else (read_parameters("" if text == "-" else text),)

    def _member(self, owners: list[Found | Absent | None], member: str, bits: int) -> Found | Absent | None:
        """A method that is called on a class."""
        owner = owners[0] if len(owners) == 1 else None
        if not isinstance(owner, Found) or owner.kind != "class" or owner.bases is None:
            return None
        known: set[str] = set()
        for name in (owner.name, *sorted(owner.bases)):
            home = library_of(name)
            if home is None:
                if not _has_no_such_methods(name):
                    return None
                continue
            module, _, last = name.rpartition(".")
            other = library(home.distribution)
            row = other._row(other.known.mirrored_name(module))
            if row is None:
                return None
            entries = row.entries(f"{last}.{member}", other.bits(self._releases_in(bits)))
            if entries:
                return _join(
                    [other._entry(row, f"{name}.{member}", entry, 0) for entry in sorted(entries, key=_newest)]
                )
            known |= row.members(last)
        if member in self.attributes or not known:
            return None
        return Absent(owner.name, member, frozenset(known), owner.releases, is_sure=False)

    def _absent(self, row: _Row, parts: list[str], depth: int, bits: int) -> Absent | None:
        """The part that a module lacks in the releases asked for."""
        missing = parts[depth]
        inner = set(re.findall(rf"\n{re.escape(row.name)}\.([^\W_]\w*)(?=[@ \n])", self._modules))
        others = sum({entry.bits for entry in row.entries(missing, -1)}) if row.entries(missing, -1) else 0
        whole = self._row(f"{row.name}.{missing}")
        others |= whole.bits if whole is not None else 0
        if row.is_open(-1) and others == 0:
            return None
        moved = self._find_moved(parts[-1], bits)
        names = frozenset(row.names(bits) | inner)
        return Absent(row.name, missing, names, self._releases_in(bits), self._releases_in(others), moved)

    def _find_moved(self, name: str, bits: int) -> str:
        """The full name of the only class or function of a name, as the package offers it."""
        found = set()
        for match in re.finditer(rf"\n([^\n @]+)(?:@\w+)?(?: [^\n]*)? {re.escape(name)}(?:[:/=])", self._modules):
            row = self._row(match[1])
            if row is not None and row.entries(name, bits) and not any(part[0] == "_" for part in row.name.split(".")):
                found.add(row.name)
        shortest = sorted(found, key=lambda one: (one.count("."), one))
        return f"{shortest[0]}.{name}" if shortest else ""

    def _row(self, module: str) -> _Row | None:
        if module not in self._rows:
            self._rows[module] = None
            for end in " @\n":
                start = self._modules.find(f"\n{module}{end}")
                if start >= 0:
                    line = self._modules[start + 1 : self._modules.find("\n", start + 1)]
                    self._rows[module] = _Row(line, self.bits(None))
                    break
        return self._rows[module]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a module: `kind` is the character behind its name, which is empty for values."""

    name: str
    kind: str
    rest: str
    bits: int


class _Row:
    """The line of a module."""

    def __init__(self, line: str, everything: int) -> None:
        head, _, self._text = line.partition(" ")
        self.name, _, mask = head.partition("@")
        self.bits = int(mask, 16) if mask else everything

    @cached_property
    def _words(self) -> dict[str, list[_Entry]]:
        found: dict[str, list[_Entry]] = {}
        for word in self._text.split():
            text, _, mask = word.partition("@")
            name, kind, rest = _ENTRY.match(text).groups()  # type: ignore[union-attr]
            found.setdefault(name, []).append(_Entry(name, kind, rest, int(mask, 16) if mask else self.bits))
        return found

    def entries(self, name: str, bits: int) -> list[_Entry]:
        """The entries of a name in some releases."""
        found = self._words.get(name, ())
        return [_Entry(one.name, one.kind, one.rest, one.bits & bits) for one in found if one.bits & bits]

    def is_open(self, bits: int) -> bool:
        """True if the module may have more names in one of these releases."""
        return bool(self.entries("*", bits))

    def names(self, bits: int) -> set[str]:
        """The names of some releases."""
        return {name for name in self._words if "." not in name and self.entries(name, bits)} - {"*"}

    def members(self, cls: str) -> set[str]:
        """The methods that are called on a class."""
        return {name.partition(".")[2] for name in self._words if name.startswith(f"{cls}.")}


_ENTRY = re.compile(r"([^:/=]+)([:/=]?)(.*)")


def _newest(entry: _Entry) -> int:
    """The newest release of an entry, as a bit."""
    return entry.bits & -entry.bits


def _join(answers: list[Found | Absent | None]) -> Found | None:
    """One answer for all releases, where they agree in what it is."""
    known = [one for one in answers if isinstance(one, Found)]
    if len(known) < len(answers) or not known or len({one.kind for one in known}) > 1:
        return None
    first = known[0]
    if len(known) == 1:
        return first
    signatures = dict.fromkeys(text for one in known for text in one.signatures)
    is_known = all(one.signatures for one in known)
    bases = [one.bases for one in known]
    joined = frozenset[str]().union(*(one for one in bases if one is not None))
    releases = tuple(dict.fromkeys(release for one in known for release in one.releases))
    return Found(
        first.kind, first.name, tuple(signatures) if is_known else (), None if None in bases else joined, releases
    )


def _has_no_such_methods(name: str) -> bool:
    """True of a class of another library that has no methods which are called on the class, or none that are known."""
    return name == "torch.nn.Module" or name.partition(".")[0] in ("abc", "builtins", "typing", "collections")


def names_in(distribution: str) -> Iterator[tuple[str, list[str]]]:
    """The names of each module of a library, for tests."""
    text = library(distribution)._modules
    for line in text.strip().split("\n"):
        row = _Row(line, library(distribution).bits(None))
        yield row.name, sorted(row.names(-1))
