"""One JSON object for each finding, one on a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from modellint.reporters.json import finding_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.report import Report
    from modellint.reporters import View


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield json.dumps(finding_json(finding, view), ensure_ascii=False)
