"""JUnit's XML, which every CI server shows: a suite for each file, a failed case for each finding.

An internal error is a case with an error, and a file that was not read one that was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from modellint.reporters.text import explained, printable, spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.report import Report


#: Attributes, and the elements that they count.
_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def lines(report: Report, view: View) -> Iterator[str]:
    root = ElementTree.Element("testsuites", {"name": "modellint", "time": f"{report.duration:.3f}"})
    suites: dict[str, ElementTree.Element] = {}
    named = (*(item.path for item in report.findings), *(item.path for item in report.crashes))
    for path in sorted({*named, *(item.path for item in report.skipped)}):
        suites[path] = ElementTree.SubElement(root, "testsuite", {"name": _text(view.path(path)), "time": "0"})
    for finding in report.findings:
        _failure(suites[finding.path], finding, view)
    for crash in report.crashes:
        case = _case(suites[crash.path], f"{crash.part} internal error")
        error = ElementTree.SubElement(case, "error", {"type": "internal error", "message": _text(crash.error)})
        error.text = _text(crash.traceback or crash.message)
    for file in report.skipped:
        ElementTree.SubElement(_case(suites[file.path], "Not checked"), "skipped", {"message": _text(file.reason)})
    if not report.findings and not report.crashes:
        suite = ElementTree.SubElement(root, "testsuite", {"name": "modellint", "time": "0"})
        about = {"name": "No findings", "classname": "modellint", "time": "0"}
        ElementTree.SubElement(suite, "testcase", about)
    for element in (*root, root):
        for count, name in _COUNTED.items():
            element.set(count, str(sum(1 for _ in element.iter(name))))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    path = suite.get("name", "")
    about = {"name": _text(name), "classname": path, "file": path, "time": "0"}
    return ElementTree.SubElement(suite, "testcase", about)


def _failure(suite: ElementTree.Element, finding: Finding, view: View) -> None:
    case = _case(suite, f"{finding.code} {finding.symbol} ({spot(finding.place)})")
    case.set("line", str(view.on_disk(finding.place).span.line))
    failure = ElementTree.SubElement(
        case, "failure", {"type": finding.severity.value, "message": _text(finding.message)}
    )
    where = f"{view.path(finding.path)}:{spot(finding.place)}"
    failure.text = _text(f"{where}: {finding.code} {explained(finding)}")


def _text(text: str) -> str:
    """Text without the characters that XML 1.0 has no place for."""
    lines = (printable(line) for line in text.split("\n"))
    return "\n".join(lines).translate(
        dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
    )
