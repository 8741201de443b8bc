"""What the settings say of classes and functions is checked before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from modellint.config.errors import UsageError
from modellint.config.targets import read_targets

GOOD = {
    "pkg.model:Encoder": {"arguments": {"width": 8, "kind": "gru"}, "inputs": {"x": {"shape": [2, 8]}, "scale": 1.5}},
    "src/model.py::Decoder.forward": {"inputs": {"ids": {"shape": [2], "low": 0, "high": 99}}},
}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"Encoder": {}}, "expected `package.module:Class` or `folder/file.py::Class`"),
    ({"m:E": 3}, "must be a table, not 3"),
    ({"m:E": {"argument": {}}}, "unknown key `argument`; did you mean `arguments`?"),
    ({"m:E": {"inputs": [1]}}, "`inputs` must be a table"),
    ({"m:E": {"inputs": {"x": {"size": [1]}}}}, "input `x`: unknown key `size`; expected `shape`, `low`, `high`"),
    ({"m:E": {"inputs": {"x": {"high": 3}}}}, "`shape` must be a list of whole numbers, not None"),
    ({"m:E": {"inputs": {"x": {"shape": [2, "t"]}}}}, "`shape` must be a list of whole numbers"),
    ({"m:E": {"inputs": {"x": {"shape": [2], "high": 1.5}}}}, "`high` must be a whole number, not 1.5"),
    ({"m:E": {"inputs": {"x": {"shape": [2], "low": 3, "high": 1}}}}, "`low` needs a `high` that is not below it"),
]


def test_targets_are_read() -> None:
    assert dict(read_targets(GOOD, "pyproject.toml:3: `confirm`")) == GOOD


@pytest.mark.parametrize(("table", "says"), BAD, ids=[says[:30] for _, says in BAD])
def test_what_is_not_understood_is_refused(table: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_targets(table, "pyproject.toml:3: `confirm`")
    assert str(refused.value).startswith(f"pyproject.toml:3: `confirm`, target `{next(iter(table))}`")
    assert says in str(refused.value)
