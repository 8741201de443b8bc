"""One JSON object for each finding, one on a line; then what was not checked: `{"error": …}`, `{"skipped": …}`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from modellint.reporters.json import crash_json, finding_json, skipped_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.reporters import View
    from modellint.results.report import Report


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield json.dumps(finding_json(finding, view), ensure_ascii=False)
    for crash in report.crashes:
        yield json.dumps({"error": crash_json(crash, view)}, ensure_ascii=False)
    for skipped in report.skipped:
        yield json.dumps({"skipped": skipped_json(skipped, view)}, ensure_ascii=False)
