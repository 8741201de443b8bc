"""JUnit's XML, which every CI server shows: a suite for each file, a failed case for each finding."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from modellint.reporters.text import explained, printable, spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.report import Report
    from modellint.reporters import View


def lines(report: Report, view: View) -> Iterator[str]:
    failures = len(report.findings)
    root = ElementTree.Element(
        "testsuites",
        {
            "name": "modellint",
            "tests": str(max(failures, 1)),
            "failures": str(failures),
            "errors": "0",
            "time": f"{report.duration:.3f}",
        },
    )
    for path, found in groupby(report.findings, key=lambda finding: finding.path):
        _suite(root, view.path(path), list(found), view)
    if not failures:
        suite = _suite(root, "modellint", [], view)
        suite.set("tests", "1")
        ElementTree.SubElement(suite, "testcase", {"name": "No findings", "classname": "modellint", "time": "0"})
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _suite(root: ElementTree.Element, name: str, findings: list[Finding], view: View) -> ElementTree.Element:
    number = str(len(findings))
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {"name": _text(name), "tests": number, "failures": number, "errors": "0", "skipped": "0", "time": "0"},
    )
    for finding in findings:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "name": _text(f"{finding.code} {finding.symbol} ({spot(finding.place)})"),
                "classname": _text(name),
                "file": _text(name),
                "line": str(view.on_disk(finding.place).span.line),
                "time": "0",
            },
        )
        failure = ElementTree.SubElement(
            case, "failure", {"type": finding.severity.value, "message": _text(finding.message)}
        )
        failure.text = _text(f"{name}:{spot(finding.place)}: {finding.code} {explained(finding)}")
    return suite


def _text(text: str) -> str:
    """Text without the characters that XML 1.0 has no place for."""
    lines = (printable(line) for line in text.split("\n"))
    return "\n".join(lines).translate(
        dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
    )
