"""Mistakes planted in right configurations: each mutant has one."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Path = tuple[Any, ...]


def _places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All values in a configuration, with the keys that lead to each."""
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from _places(child, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _slip(word: str, dice: random.Random) -> str:
    """A word with a letter lost, doubled or swapped with the next."""
    at = dice.randrange(max(len(word) - 1, 1))
    match dice.randrange(3):
        case 0:
            return word[:at] + word[at + 1 :] or word + "x"
        case 1:
            return word[:at] + word[at : at + 1] + word[at:]
    swapped = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
    return swapped if swapped != word else word + "s"


def _keys(config: Any) -> list[Path]:
    return [path for path, _ in _places(config) if path and isinstance(path[-1], str)]


def _rename(config: Any, path: Path, name: str) -> None:
    holder = _at(config, path[:-1])
    renamed = {name if key == path[-1] else key: value for key, value in holder.items()}
    holder.clear()
    holder.update(renamed)


def misspelt_key(config: Any, dice: random.Random) -> None:
    path = dice.choice(_keys(config))
    _rename(config, path, _slip(path[-1], dice))


def misspelt_class(config: Any, dice: random.Random) -> None:
    paths = [path for path in _keys(config) if path[-1] == "class_path"]
    path = dice.choice(paths)
    holder = _at(config, path[:-1])
    parts = holder["class_path"].split(".")
    at = dice.randrange(len(parts))
    parts[at] = _slip(parts[at], dice)
    holder["class_path"] = ".".join(parts)


def other_class(config: Any, dice: random.Random) -> None:
    paths = [path for path in _keys(config) if path[-1] == "class_path"]
    path = dice.choice(paths)
    others = (
        "parts.Shade",
        "torch.nn.Linear",
        "model.Digits",
        "lightning.pytorch.callbacks.Timer",
        "parts.untold_stack",
    )
    _at(config, path[:-1])["class_path"] = dice.choice(others)


def dropped_key(config: Any, dice: random.Random) -> None:
    path = dice.choice(_keys(config))
    del _at(config, path[:-1])[path[-1]]


def added_key(config: Any, dice: random.Random) -> None:
    holders = [path for path, value in _places(config) if isinstance(value, dict)]
    _at(config, dice.choice(holders))[dice.choice(("depth", "num_layers", "lr", "hidden_size"))] = 3


def wrong_value(config: Any, dice: random.Random) -> None:
    path = dice.choice([path for path in _keys(config) if path[-1] not in ("class_path", "init_args")])
    values = ("many", 12, 0.25, True, None, [1, "a"], {"a": 1}, "1e3", 1e3)
    old = _at(config, path)
    _at(config, path[:-1])[path[-1]] = dice.choice([one for one in values if type(one) is not type(old)])


def emptied(config: Any, dice: random.Random) -> None:
    path = dice.choice([path for path in _keys(config) if isinstance(_at(config, path), dict)])
    _at(config, path[:-1])[path[-1]] = None


def flattened(config: Any, dice: random.Random) -> None:
    """Put the arguments beside the class path."""
    path = dice.choice([path for path in _keys(config) if path[-1] == "init_args"])
    holder = _at(config, path[:-1])
    holder.update(holder.pop("init_args") or {})


def nested_wrongly(config: Any, dice: random.Random) -> None:
    """Write a class path without its key, or the arguments under another name."""
    path = dice.choice([path for path in _keys(config) if path[-1] == "init_args"])
    _rename(config, path, dice.choice(("init_arg", "args", "kwargs", "params", "init-args")))


OPERATORS: tuple[Callable[[Any, random.Random], None], ...] = (
    misspelt_key,
    misspelt_key,
    misspelt_class,
    other_class,
    dropped_key,
    added_key,
    wrong_value,
    wrong_value,
    emptied,
    flattened,
    nested_wrongly,
)


def mutants(configs: Mapping[str, str], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """So many mutants of some configurations, each with a name that tells what was done to which."""
    dice = random.Random(seed)
    names = list(configs)
    made = 0
    while made < count:
        name, operator = dice.choice(names), dice.choice(OPERATORS)
        config = yaml.safe_load(configs[name])
        before = copy.deepcopy(config)
        try:
            operator(config, dice)
        except (IndexError, KeyError, ValueError):
            continue
        if config != before:
            made += 1
            yield f"{name}: {operator.__name__}", yaml.safe_dump(config, sort_keys=False)
