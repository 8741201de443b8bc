"""The filters and tests that Jinja 3.1 has, and those that transformers adds for chat templates (none).

Jinja refuses to compile a template with another one (https://jinja.palletsprojects.com/en/stable/templates/).
"""

from __future__ import annotations

from typing import Final

FILTERS: Final = frozenset(
    "abs attr batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format "
    "groupby indent int items join last length list lower map max min pprint random reject rejectattr replace reverse "
    "round safe select selectattr slice sort string striptags sum title tojson trim truncate unique upper urlencode "
    "urlize wordcount wordwrap xmlattr".split()
)
TESTS: Final = frozenset(
    "boolean callable defined divisibleby eq equalto escaped even false filter float ge greaterthan gt in integer "
    "iterable le lessthan lower lt mapping ne none number odd sameas sequence string test true undefined upper".split()
)
