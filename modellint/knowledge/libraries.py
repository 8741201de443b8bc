"""The modules, classes and functions of the libraries that configurations name, by release.

One text file for each library, beside this one, which `python -m modellint.knowledge.list_libraries` writes from the
source of its releases. It is read when somebody asks for a name of the library, and of its lines only those that are
asked for. Its parts, with an empty line between them:

    releases      the newest first; below, they are bits of hexadecimal numbers, the newest the lowest
    attributes    what classes have besides methods that are called on the class; "-" for nothing, as everywhere
    patched       names that modules may get at run time, from other modules
    parameters    one line for each way in which something is called, as `catalogue.write_parameters` writes it; "?" for
                  what is not known
    bases         one line for each list of bases, "?" for those that are not known
    modules       one line each: its name, and what it offers

        Name:3:5            a class, with the numbers of its parameters and of its bases
        name/3              a function; `Class.name/3` a method that is called on the class
        Name=               a class or function that another module defines, the only one of this name
        Name=lib.mod.Name   one of several, or of another library
        name                anything else
        +lib.other          all that the module `lib.other` has
        *                   it may have more names
        ~                   it has more names, which its package does not offer
        …@1f                in these releases only

Begin with `find`.
"""

from __future__ import annotations

import re
import sys
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
    #: Only classes and functions are described that its packages offer.
    is_large: bool = False

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
    Described("pytorch-lightning", ("pytorch_lightning", "lightning_fabric", "lightning_lite")),
    Described("timm", ("timm",)),
    Described("torchmetrics", ("torchmetrics",)),
    Described("torchtune", ("torchtune",)),
    Described("torchvision", ("torchvision",)),
    Described("transformers", ("transformers",), is_large=True),
)
_BY_PACKAGE = {package: library for library in LIBRARIES for package in library.packages}
_loaded: dict[str, Library] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """The definition that a name stands for, in those releases that were asked for and have it.

    `kind` is "class", "function", "module" or "value", `name` the full name where it is defined. `signatures` are the
    parameters with which it is called, the receiver left out, one for each way in which the releases differ; none if
    they are not known. `bases` are the full names of a class's bases, in any of the releases, "?" for an unknown one.
    """

    kind: str
    name: str
    signatures: tuple[tuple[Parameter, ...], ...] = ()
    bases: tuple[str, ...] = ()
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


def packages() -> Collection[str]:
    """The top packages of the libraries that are described."""
    return _BY_PACKAGE.keys()


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


def ancestors(found: Found, releases: Collection[str] | None = None) -> tuple[tuple[str, ...], bool]:
    """The full names of all classes that a class derives from, the nearest first; True if these are all.

    Classes of other libraries are named, and not followed unless they are described.
    """
    pending = dict.fromkeys(found.bases)
    is_whole = True
    for name in (queue := list(pending)):
        one = find(name, releases)
        is_whole &= one is not None or _rests_on_nothing(name)
        for base in one.bases if isinstance(one, Found) else ():
            if base not in pending:
                pending[base] = None
                queue.append(base)
    return tuple(name for name in pending if name != _UNKNOWN), is_whole


def derives(name: str, base: str, releases: Collection[str] | None = None) -> bool | None:
    """True if the class called `name` is, or derives from, the class called `base`; None if that is not known."""
    found, wanted = find(name, releases), find(base, releases)
    if not isinstance(found, Found) or found.kind != "class":
        return None
    full = wanted.name if isinstance(wanted, Found) else base
    above, is_whole = ancestors(found, releases)
    return True if full in (found.name, *above) else False if is_whole else None


class Library:
    """The facts of one library."""

    def __init__(self, known: Described, text: str) -> None:
        self.known = known
        releases, self._attributes, patched, self._signatures, self._bases, modules = text.split("\n\n")
        self._patched = f" {patched} "
        self.releases = tuple(releases.split())
        self._modules = f"\n{modules}"
        self._rows: dict[str, _Row | None] = {}
        self._mentioned: dict[str, bool] = {}

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

    def names(self, release: str) -> Iterator[str]:
        """The full names of all that the modules of a release have."""
        bits = self.bits((release,))
        for line in self._modules.strip().split("\n"):
            row = _Row(line, self.bits(None))
            yield from (f"{row.name}.{name}" for name in sorted(self._names(row, bits)) if row.bits & bits)

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
        if row is None or hops > _MAX_HOPS:
            return None
        if depth == len(parts):
            return Found("module", name, releases=self._releases_in(row.bits & bits))
        here = bits & row.bits
        entries = self._entries(row, parts[depth], here)
        if not entries:
            is_open = self._is_open(row, here) or row.entries("~", here)
            is_private = any(part.startswith("_") for part in parts[depth:])
            return None if is_open or is_private else self._absent(row, parts, depth, bits)
        if depth + 2 < len(parts):
            return None
        answers = [self._entry(entry, hops) for entry in sorted(entries, key=_newest)]
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

    def _entries(self, row: _Row, name: str, bits: int, hops: int = 0) -> list[_Entry]:
        """The entries of a name in a module, and in those that it has all of, for some releases."""
        found = row.entries(name, bits)
        for one in found:
            bits &= ~one.bits
        for star in row.stars if hops <= _MAX_HOPS and self._mentions(name) else ():
            source = self._row(star.name) if star.bits & bits else None
            inner = [] if source is None else self._entries(source, name, star.bits & bits & source.bits, hops + 1)
            for one in inner:
                bits &= ~one.bits
            found += inner
        return found

    def _mentions(self, name: str) -> bool:
        """True if some module has a name that begins so; each is searched for once, as packages have many stars."""
        if name not in self._mentioned:
            self._mentioned[name] = f" {name}" in self._modules
        return self._mentioned[name]

    def _is_open(self, row: _Row, bits: int, hops: int = 0) -> bool:
        """True if a module may have more names in one of these releases."""
        if row.entries("*", bits) or hops > _MAX_HOPS:
            return True
        sources = [self._row(star.name) for star in row.stars if star.bits & bits]
        return any(one is not None and self._is_open(one, bits & one.bits, hops + 1) for one in sources)

    def _names(self, row: _Row, bits: int, hops: int = 0) -> set[str]:
        """The names of a module in some releases."""
        found = row.names(bits)
        for star in row.stars if hops <= _MAX_HOPS else ():
            source = self._row(star.name) if star.bits & bits else None
            found |= set() if source is None else self._names(source, bits & star.bits, hops + 1)
        return found

    def _entry(self, entry: _Entry, hops: int) -> Found | Absent | None:
        """The definition that an entry of a module stands for."""
        releases = self._releases_in(entry.bits)
        full = f"{entry.home}.{entry.name}"
        if entry.kind == ":":
            numbers = entry.rest.split(":")
            bases = tuple(one for one in self._base_lines[int(numbers[1])].split() if one != "-")
            return Found("class", full, self._parameters(numbers[0]), bases, releases)
        if entry.kind == "/":
            return Found("function", full, self._parameters(entry.rest), (), releases)
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
        owner = _join(owners)
        if not isinstance(owner, Found) or owner.kind != "class":
            return None
        known: set[str] = set()
        above, is_whole = ancestors(owner, self._releases_in(bits))
        for name in (owner.name, *above):
            home = library_of(name)
            if home is None:
                is_whole &= name == "torch.nn.Module" or name.partition(".")[0] != "torch"
                continue
            module, _, last = name.rpartition(".")
            other = library(home.distribution)
            row = other._row(other.known.mirrored_name(module))
            entries = (
                () if row is None else other._entries(row, f"{last}.{member}", other.bits(self._releases_in(bits)))
            )
            if entries:
                return _join([other._entry(entry, 0) for entry in sorted(entries, key=_newest)])
            known |= set() if row is None else row.members(last)
        if not is_whole:
            return None
        if member in self.attributes or not known:
            return None
        return Absent(owner.name, member, frozenset(known), owner.releases, is_sure=False)

    def _absent(self, row: _Row, parts: list[str], depth: int, bits: int) -> Absent | None:
        """The part that a module lacks in the releases asked for."""
        missing = parts[depth]
        if f" {missing} " in self._patched:
            return None
        inner = set(re.findall(rf"\n{re.escape(row.name)}\.([^\W_]\w*)(?=[@ \n])", self._modules))
        whole = self._row(f"{row.name}.{missing}")
        others = whole.bits if whole is not None else 0
        for entry in self._entries(row, missing, row.bits):
            others |= entry.bits
        moved = self._find_moved(parts[-1], bits)
        names = frozenset(self._names(row, bits) | inner)
        return Absent(row.name, missing, names, self._releases_in(bits), self._releases_in(others), moved)

    def _find_moved(self, name: str, bits: int) -> str:
        """The full name of the only class or function of a name, as the package offers it."""
        found = set()
        for match in re.finditer(rf"\n([^\n @]+)(?:@\w+)?(?: [^\n]*)? {re.escape(name)}(?:[:/=])", self._modules):
            row = self._row(match[1])
            if (
                row is not None
                and self._entries(row, name, bits & -bits)  # the newest
                and not any(part[0] == "_" for part in row.name.split("."))
            ):
                found.add(row.name)
        if found:
            return f"{min(found, key=lambda one: (one.count('.'), one))}.{name}"
        for own, of in self.known.mirrors:
            home = library_of(of)
            other = None if home is None else library(home.distribution)
            moved = "" if other is None else other._find_moved(name, other.bits(self._releases_in(bits)))
            if moved.startswith(f"{of}."):
                return own + moved[len(of) :]
        return ""

    @cached_property
    def _lines(self) -> dict[str, str]:
        """The lines of the modules, by their names."""
        lines = self._modules.strip().split("\n")
        return {line.partition(" ")[0].partition("@")[0]: line for line in lines}

    def _row(self, module: str) -> _Row | None:
        if module not in self._rows:
            line = self._lines.get(module)
            self._rows[module] = None if line is None else _Row(line, self.bits(None))
        return self._rows[module]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a module: `kind` is the character behind its name, which is empty for values."""

    name: str
    kind: str
    rest: str
    bits: int
    #: The module.
    home: str


class _Row:
    """The line of a module."""

    def __init__(self, line: str, everything: int) -> None:
        head, _, self._text = line.partition(" ")
        self.name, _, mask = head.partition("@")
        self.bits = int(mask, 16) if mask else everything
        self._stars: list[_Entry] = []

    @property
    def stars(self) -> list[_Entry]:
        """The modules that it has all names of."""
        _ = self._words
        return self._stars

    @cached_property
    def _words(self) -> dict[str, list[_Entry]]:
        found: dict[str, list[_Entry]] = {}
        for word in self._text.split():
            text, _, mask = word.partition("@")
            name, kind, rest = _ENTRY.match(text).groups()  # type: ignore[union-attr]
            bits = int(mask, 16) if mask else self.bits
            if name[0] == "+":
                self._stars.append(_Entry(name[1:], "+", "", bits, self.name))
            else:
                found.setdefault(name, []).append(_Entry(name, kind, rest, bits, self.name))
        return found

    def entries(self, name: str, bits: int) -> list[_Entry]:
        """The entries of a name in some releases."""
        found = self._words.get(name, ())
        return [_Entry(one.name, one.kind, one.rest, one.bits & bits, one.home) for one in found if one.bits & bits]

    def names(self, bits: int) -> set[str]:
        """The names of some releases."""
        return {name for name in self._words if "." not in name and self.entries(name, bits)} - {"*", "~"}

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
    bases = tuple(dict.fromkeys(base for one in known for base in one.bases))
    releases = tuple(dict.fromkeys(release for one in known for release in one.releases))
    return Found(first.kind, first.name, tuple(signatures) if is_known else (), bases, releases)


def _rests_on_nothing(name: str) -> bool:
    """True of a class of torch or Python, which derives from no class of a library."""
    return name.partition(".")[0] in ("torch", *sys.stdlib_module_names)
