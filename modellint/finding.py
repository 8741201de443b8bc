"""Findings and their parts: plain, immutable values that rules report to reporters, the cache and the editor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from modellint.reading.digest import digest
from modellint.results.levels import Confidence as Confidence
from modellint.results.levels import Severity as Severity
from modellint.results.verdicts import Extent as Extent
from modellint.results.verdicts import Status as Status
from modellint.results.verdicts import Verdict as Verdict
from modellint.source import Place as Place
from modellint.source import Span as Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.claims import Claim
    from modellint.results.failures import Crash

T = TypeVar("T")


class Applicability(Enum):
    """How far to trust a fix: a `safe` one keeps the meaning of correct code, an `unsafe` one needs a look."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `place` by `text`."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together, and what they do, in the imperative ("Add `ctc_lin` to `modules`")."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding, with a message that says how."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake at one place.

    `symbol` is what the finding is about (`ctc_lin`, `Encoder.embedding`); `evidence` lists the facts that led
    to it, strongest first; `help` says what to do. `claim` is the part of it that a run can judge, None if there is
    none. `cause` names a cause that lies outside of the file, so that several findings may share it.
    """

    code: str
    name: str
    message: str
    severity: Severity
    confidence: Confidence
    place: Place
    symbol: str
    evidence: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    help: str = ""
    fix: Fix | None = None
    claim: Claim | None = None
    cause: str = ""
    verdict: Verdict = field(default_factory=Verdict)
    fingerprint: str = ""

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def span(self) -> Span:
        return self.place.span

    @property
    def places(self) -> Iterator[Place]:
        """All places of the finding: its own, the related ones, and those of its fix's edits."""
        yield self.place
        yield from (other.place for other in self.related)
        yield from (edit.place for edit in self.fix.edits) if self.fix is not None else ()

    @property
    def sort_key(self) -> tuple[str, int, int, str, str, str]:
        return (self.path, self.span.line, self.span.column, self.code, self.symbol, self.message)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The guard that confirmed code ran under: "operating system", "in part" or "off", and the parts that were on."""

    name: str
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.parts)})" if self.parts else self.name


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome of confirming: findings to show, findings left out as refuted, and the guard that code ran under.

    `crashes` are the rules that could not say what to run.
    """

    findings: tuple[Finding, ...]
    refuted: tuple[Finding, ...] = ()
    guard: Sandbox | None = None
    crashes: tuple[Crash, ...] = ()


def verified(value: object) -> Finding:
    """Return `value` if it is a finding whose parts all have their annotated types. Raises TypeError otherwise."""
    finding = _require(value, Finding)
    for text in (finding.code, finding.name, finding.message, finding.symbol, finding.help, finding.cause):
        _require(text, str)
    _require(finding.fingerprint, str)
    _require(finding.severity, Severity)
    _require(finding.confidence, Confidence)
    _each(finding.evidence, str)
    for related in _each(finding.related, Related):
        _require(related.message, str)
    if finding.fix is not None:
        _require(_require(finding.fix, Fix).message, str)
        _require(finding.fix.applicability, Applicability)
        for edit in _each(finding.fix.edits, Edit):
            _require(edit.text, str)
    for place in finding.places:
        _require(_require(place, Place).path, str)
        span = _require(place.span, Span)
        for number in (span.line, span.column, span.end_line, span.end_column, place.cell):
            _require(number, int)
    if finding.claim is not None:
        from modellint.claims import Claim

        _require(finding.claim, Claim)
    return finding


def _require(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def _each(values: object, kind: type[T]) -> Iterable[T]:
    return [_require(value, kind) for value in _require(values, tuple)]


def with_fingerprints(findings: list[Finding], root: str) -> list[Finding]:
    """The findings, sorted, each with a fingerprint that survives moved lines.

    A fingerprint hashes the code, the path below `root` and the symbol, and counts repetitions of those three in
    the order of the places.
    """
    seen: dict[tuple[str, str, str], int] = {}
    result = []
    for finding in sorted(findings, key=lambda f: f.sort_key):
        path = finding.path.removeprefix(root).lstrip("/")
        key = (finding.code, path, finding.symbol)
        number = seen.get(key, 0)
        seen[key] = number + 1
        text = "\0".join((*key, str(number)))
        result.append(replace(finding, fingerprint=digest(text.encode("utf-8", "surrogatepass"))))
    return result
