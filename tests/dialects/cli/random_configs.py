"""Random configurations of `plain.py`: each argument gets a value that may fit or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_SCALARS: tuple[Any, ...] = (
    3,
    0.5,
    "3",
    "0.5",
    "text",
    True,
    "true",
    None,
    "null",
    1e3,
    "1e3",
    -1,
    "[1, 2]",
    "",
    "1_0",
)
_BLOCKS: tuple[Any, ...] = (
    "parts.Block",
    "parts.Nothing",
    {"class_path": "parts.Block", "init_args": {"width": 3}},
    {"class_path": "parts.WideBlock", "init_args": {"width": 3, "factor": "2"}},
    {"class_path": "parts.PooledBlock", "init_args": {"width": 3, "stride": 2}},
    {"class_path": "parts.PooledBlock", "init_args": {"width": 3, "bias": True}},
    {"class_path": "parts.LooseBlock", "init_args": {"width": 3}},
    {"class_path": "parts.LooseBlock", "dict_kwargs": {"width": 3}},
    {"class_path": "parts.Stack", "init_args": {"blocks": []}},
    {"class_path": "parts.Block"},
    {"width": 3},
    {"init_args": {"width": 3, "dropout": 0}},
    {},
    None,
    3,
)
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "width": (3, 4, "5", 0.5, "many"),
    "name": _SCALARS,
    "mode": ("fast", "exact", "slow", 1, None),
    "sizes": ([1, 2], [1], [1, "2"], [1, "a"], 3, "[1, 2]", None),
    "ratio": _SCALARS,
    "rate": _SCALARS,
    "warmup": _SCALARS,
    "window": ({"length": 3}, {"length": "3", "hop": 1}, {"lenght": 3}, {"length": 3, "marks": [1, "x"]}, 4, "text"),
    "block": _BLOCKS,
    "extra": (*_SCALARS, [1], {"a": 1}),
    "untold": (*_SCALARS, [1]),
    "steps": _SCALARS,
    "grid": (3, [1, 2], [1, 2, 3], "3", "text", 0.5),
    "weigh": ("builtins.len", "torch.relu", "torch.nothing", 3, [1]),
    "optimizer": (
        "torch.optim.SGD",
        {"class_path": "torch.optim.Adam", "init_args": {"lr": 0.1}},
        {"class_path": "torch.optim.Adam", "init_args": {"learning_rate": 0.1}},
        {"class_path": "torch.optim.Adma"},
        3,
    ),
    "flag": _SCALARS,
}
_STACK: dict[str, tuple[Any, ...]] = {
    "names": (["a"], "a", ["a", 1], []),
    "table": ({"a": 1}, {"a": "1"}, {"a": "x"}, [1], None),
    "activation": ("torch.nn.GELU", "torch.nn.Gelu", "parts.Block", "parts.small_stack", 3),
    "shade": ("dark", "light", "darkk", 1),
    "window": ({"length": 3}, None, {"hop": 3}, {"class_path": "parts.Window", "init_args": {"length": 3}}),
    "place": ("data", "data/here", 3, None),
}


def random_configs(count: int, dice: random.Random) -> Iterator[str]:
    """So many configurations; a few arguments of each may not fit."""
    for _ in range(count):
        block = {"class_path": "parts.Block", "init_args": {"width": 3}}
        stack: dict[str, Any] = {"blocks": [block] * dice.randint(0, 2)}
        stack |= {name: dice.choice(_STACK[name]) for name in dice.sample(sorted(_STACK), dice.randint(0, 2))}
        model: dict[str, Any] = {"width": 3, "encoder": {"class_path": "parts.Stack", "init_args": stack}}
        model |= {name: dice.choice(_ARGUMENTS[name]) for name in dice.sample(sorted(_ARGUMENTS), dice.randint(0, 2))}
        yield yaml.safe_dump({"model": model}, sort_keys=False)
